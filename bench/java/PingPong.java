// Players throw a ball to each other; one takes it away while others use it. After a small program of RVPredict's Table 1.
public class PingPong {
    static class Ball {
        int hits;

        int hit() {
            return ++hits;
        }
    }

    static class Table {
        Ball ball = new Ball();
        int failures;

        void play() {
            try {
                Ball mine = ball;
                ball = null;
                mine.hit();
                ball = mine;
            } catch (NullPointerException missed) {
                failures++;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Table table = new Table();
        Thread[] players = new Thread[4];
        for (int number = 0; number < players.length; number++) {
            players[number] = new Thread(table::play, "player-" + number);
            players[number].start();
        }
        for (Thread player : players) {
            player.join();
        }
        System.out.println(table.failures == 0 ? "all hit" : "missed " + table.failures);
    }
}
