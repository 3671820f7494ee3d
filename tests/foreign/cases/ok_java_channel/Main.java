/** Reads a file through a channel in pieces of 8 MiB. */
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

public class Main {
    public static void main(String[] args) throws Exception {
        FileChannel in = FileChannel.open(Path.of("input.bin"));
        ByteBuffer buffer = ByteBuffer.allocateDirect(8 << 20);
        long sum = 0;
        while (in.read(buffer) > 0) {
            buffer.flip();
            while (buffer.remaining() >= 8) sum += buffer.getLong();
            buffer.clear();
        }
        System.out.println("sum " + sum);
    }
}
