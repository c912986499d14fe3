// Actors with mailboxes: a parent sends letters to a child, which answers; a postman delivers, and the parent reads at the end.
// hidden: 44 70
// hidden: 62 82
// race: 48 84
// race: 64 82
#include <pthread.h>

enum { LETTERS = 8 };

struct mailbox {
    pthread_mutex_t lock;
    int letters[2 * LETTERS], count;
};

static struct mailbox parent_box, child_box, office;
static int language; // agreed upon by the parent, before the first letter
static int mood;     // of the child
static int postage;  // of the post office

static void make_box(struct mailbox *box) { pthread_mutex_init(&box->lock, 0); }

static void drop_in(struct mailbox *box, int letter) {
    pthread_mutex_lock(&box->lock);
    if (box->count < 2 * LETTERS)
        box->letters[box->count++] = letter;
    pthread_mutex_unlock(&box->lock);
}

static int take_out(struct mailbox *box) {
    pthread_mutex_lock(&box->lock);
    int letter = box->count > 0 ? box->letters[--box->count] : 0;
    pthread_mutex_unlock(&box->lock);
    return letter;
}

static int read_all(struct mailbox *box, int letters) {
    int sum = 0;
    for (int i = 0; i < letters; i++)
        sum += take_out(box);
    return sum;
}

static void *parent(void *unused) {
    language = 3;
    for (int letter = 1; letter <= LETTERS; letter++)
        drop_in(&office, letter);
    int answers = read_all(&parent_box, 2 * LETTERS);
    if (mood < 0)
        drop_in(&office, answers);
    return unused;
}

static void deliver(int rounds) {
    for (int round = 0; round < rounds; round++) {
        int letter = take_out(&office);
        if (letter)
            drop_in(&child_box, letter);
    }
}

static void *postman(void *unused) {
    postage = 1;
    deliver(2 * LETTERS);
    postage = 2;
    deliver(LETTERS);
    return unused;
}

static int answer(int letter) {
    if (language == 3)
        drop_in(&parent_box, letter + 1);
    return letter > 0;
}

static void *child(void *unused) {
    static pthread_mutex_t toy_lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 45; i++) {
        pthread_mutex_lock(&toy_lock);
        pthread_mutex_unlock(&toy_lock);
    }
    int letter = take_out(&child_box);
    if (postage > 0)
        letter += answer(letter);
    mood = letter;
    drop_in(&parent_box, letter);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    make_box(&parent_box);
    make_box(&child_box);
    make_box(&office);
    pthread_create(&threads[0], 0, postman, 0);
    pthread_create(&threads[1], 0, parent, 0);
    pthread_create(&threads[2], 0, child, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
