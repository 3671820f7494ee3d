/** Writes bytes to a FileOutputStream, or through a BufferedOutputStream. */
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.OutputStream;

public class Main {
    public static void main(String[] args) throws Exception {
        boolean cured = args.length > 0 && args[0].equals("twin");
        OutputStream out = new FileOutputStream("bytes.bin");
        if (cured) out = new BufferedOutputStream(out);
        for (int i = 0; i < 300000; i++) out.write(i & 127);
        out.close();
        System.out.println("bytes 300000");
    }
}
