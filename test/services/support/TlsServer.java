// A TLS server as Java has them: it takes key and certificate from a PKCS#12 key store, and again when a file is touched.
// Arguments: the key store, a file with its password, the file to watch, the port.

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

public class TlsServer {
  private static volatile SSLContext context;

  public static void main(String[] args) throws Exception {
    Path store = Path.of(args[0]);
    Path password = Path.of(args[1]);
    Path signal = Path.of(args[2]);
    context = load(store, password);
    Thread watcher = new Thread(() -> watch(store, password, signal));
    watcher.setDaemon(true);
    watcher.start();
    try (var server = new java.net.ServerSocket(Integer.parseInt(args[3]), 50, InetAddress.getLoopbackAddress())) {
      while (true) {
        Socket accepted = server.accept();
        SSLContext current = context;
        new Thread(() -> serve(accepted, current)).start();
      }
    }
  }

  private static SSLContext load(Path store, Path password) throws Exception {
    char[] secret = Files.readString(password).strip().toCharArray();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, secret);
    }
    KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
    managers.init(keys, secret);
    SSLContext loaded = SSLContext.getInstance("TLS");
    loaded.init(managers.getKeyManagers(), null, null);
    return loaded;
  }

  private static void watch(Path store, Path password, Path signal) {
    Object seen = stampOf(signal);
    while (true) {
      try {
        Thread.sleep(50);
        Object now = stampOf(signal);
        if (now.equals(seen)) continue;
        seen = now;
        context = load(store, password);
      } catch (Exception failure) {
        System.err.println("the key store stays as it was: " + failure);
      }
    }
  }

  private static Object stampOf(Path signal) {
    try {
      return Files.getLastModifiedTime(signal);
    } catch (IOException missing) {
      return "missing";
    }
  }

  private static void serve(Socket accepted, SSLContext current) {
    try (accepted;
        SSLSocket socket = (SSLSocket) current.getSocketFactory().createSocket(accepted, null, true)) {
      socket.setUseClientMode(false);
      socket.startHandshake();
    } catch (IOException unwilling) {
      // One that only wanted to know whether anybody listens.
    }
  }
}
