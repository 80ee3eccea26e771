// What port 8443 is compared with: servers with the hub's own certificate and the same demands on TLS and on clients, which do
// nothing but answer with the same bytes.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../test/support/free-port.ts'
import { findTool } from '../test/support/tools.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import type { World } from './world.ts'

export interface Yardstick extends AsyncDisposable {
  readonly name: string
  readonly pid: number
  readonly address: string
}

/** What node:https alone does. */
export async function startBareServer(
  { directory }: World,
  { manifest = '', blobBytes = 0 }: { readonly manifest?: string; readonly blobBytes?: number },
): Promise<Yardstick> {
  const server = await startDaemon({
    command: [
      fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url)),
      fileURLToPath(new URL('./bare-server.ts', import.meta.url)),
      join(directory, 'vault'),
      manifest,
      String(blobBytes),
    ],
    environment: {},
    logPath: join(directory, 'bare.log'),
    readyMessage: 'listening',
  })
  return yardstickOf('bare node:https', server, server.portOf('listening'))
}

/** One worker, and the manifest as a file; undefined where there is no nginx. */
export async function startNginx(
  { directory }: World,
  manifest: string,
): Promise<Yardstick | undefined> {
  const program = findTool('nginx')
  if (program === undefined) return undefined
  const port = await findFreePort()
  const prefix = join(directory, 'nginx')
  await mkdir(join(prefix, 'www/v1'), { recursive: true })
  await writeFile(join(prefix, 'www/v1/manifest'), manifest)
  await writeFile(join(prefix, 'nginx.conf'), configure(port, join(directory, 'vault')))
  const server = await startDaemon({
    command: [program, '-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'],
    environment: {},
    logPath: join(prefix, 'nginx.log'),
    // The notice of the master process once its worker runs.
    readyMessage: /start worker process/,
  })
  return yardstickOf('nginx', server, port)
}

function yardstickOf(name: string, server: Daemon, port: number): Yardstick {
  return {
    name,
    pid: server.pid,
    address: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** No session is resumed, and a connection is kept for as long as the hub keeps one, whatever nginx does by itself. */
function configure(port: number, vault: string): string {
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path temp-body;
  proxy_temp_path temp-proxy;
  fastcgi_temp_path temp-fastcgi;
  uwsgi_temp_path temp-uwsgi;
  scgi_temp_path temp-scgi;
  default_type application/json;
  keepalive_requests 1000000000;
  keepalive_timeout 600;
  server {
    listen 127.0.0.1:${port} ssl;
    root www;
    ssl_certificate ${join(vault, 'server.crt')};
    ssl_certificate_key ${join(vault, 'server.key')};
    ssl_client_certificate ${join(vault, 'ca.crt')};
    ssl_verify_client on;
    ssl_verify_depth 5;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_prefer_server_ciphers on;
    ssl_ecdh_curve X25519:P-256:X448:P-384;
    ssl_session_cache off;
    ssl_session_tickets off;
  }
}
`
}
