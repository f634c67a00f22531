#!/bin/sh
# candidate.sh 128-256-8-16-8-4-4-1-8-1 OUT: compiles one candidate of chapter 11, runs it on two
# small products, and leaves what it found in OUT.verdict: "ok", or what is wrong. For a GPU
# it also leaves OUT.so, which ./chapter11 --tune loads to time it. The Makefile calls this, many
# at once, with NVCC, FLAGS and OBJECTS set as for chapter 11 itself.
name=$1 out=$2
here=$(dirname "$0")

verdict() {
    rm -f "$out.program"
    echo "$1" >"$out.verdict"
    echo "$name $1"
    exit 0
}

mkdir -p "$(dirname "$out")"
printf '#define CANDIDATE %s\n#include "matmul.cu"\n' "$(echo "$name" | tr - ,)" >"$out.cu"
$NVCC $FLAGS -I"$here" -Xptxas -v -c "$out.cu" -o "$out.o" >"$out.log" 2>&1 ||
    verdict "does not compile"
grep -q '[1-9][0-9]* bytes spill' "$out.log" && verdict "has too few registers and spills"
$NVCC "$out.o" $OBJECTS -o "$out.program" $LIBRARIES >>"$out.log" 2>&1 || verdict "does not link"

# One product of odd sizes, and one whose rows are whole float4s.
for product in "300 517 129" "320 640 96 --alpha 1.5 --beta -0.5"; do
    timeout 60 "$out.program" $product --check-only >>"$out.log" 2>&1
    case $? in
    0) ;;
    1) verdict "computes wrongly" ;;
    3) exit 1 ;; # it is the machine that cannot, at the moment: no verdict
    *) verdict "crashes or never ends" ;;
    esac
done

case $out in
*/emulator/*) ;;
*) $NVCC -shared "$out.o" $OBJECTS -o "$out.so" $LIBRARIES >>"$out.log" 2>&1 ||
    verdict "does not link" ;;
esac
verdict ok
