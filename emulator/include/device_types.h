/* How the conversions of device code round. */
#ifndef DEVICE_TYPES_H
#define DEVICE_TYPES_H

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#endif
