// The classic: a player takes the ball away while another one looks at it.
// Races: PingPong.ball
public class PingPong {
    static int[] ball = new int[] {1};

    static void play() {
        int[] mine = ball;
        ball = null;
        if (mine != null) {
            ball = mine;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread ping = new Thread(PingPong::play, "ping");
        Thread pong = new Thread(PingPong::play, "pong");
        ping.start();
        pong.start();
        ping.join();
        pong.join();
    }
}
