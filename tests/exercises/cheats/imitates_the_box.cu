// EXERCISE 1 EXPECT It does not compile
// An error of the compiler's that reads as one of the box's.
#line 1 "contain: x"
#error no
