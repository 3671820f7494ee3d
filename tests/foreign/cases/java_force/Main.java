/** Appends records to a channel and forces each to the disk, or all at the end. */
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

public class Main {
    public static void main(String[] args) throws Exception {
        boolean cured = args.length > 0 && args[0].equals("twin");
        FileChannel out = FileChannel.open(Path.of("records.log"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        for (int i = 0; i < 700; i++) {
            out.write(ByteBuffer.wrap(new byte[512]));
            if (!cured) out.force(false);
        }
        out.force(false);
        out.close();
        System.out.println("records 700");
    }
}
