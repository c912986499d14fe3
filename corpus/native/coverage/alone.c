// One thread: there is nothing that could race.
static int counter;

int main(void) {
    for (int i = 0; i < 5; i++) {
        counter++;
    }
    return counter - 5;
}
