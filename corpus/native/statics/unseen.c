// Not instrumented.
void set_unseen(int *variable, int value) { *variable = value; }
