// nginx as Debian sets it up: the master reads keys as root, the workers are www-data.

import { findFreePort } from '../../support/free-port.ts'
import { pathOfTool } from '../../support/tools.ts'
import { createPlaceholderPair } from './placeholder-pair.ts'
import type { ServiceHost, TargetText } from './service-host.ts'
import { startService } from './service-process.ts'

export interface Nginx {
  readonly port: number
  readonly configPath: string
  readonly certificatePath: string
  readonly keyPath: string
  readonly caPath: string
  readonly reload: readonly string[]
  readonly target: TargetText
}

/** The places are those that `directory` holds, below the host's. */
export async function startNginx(host: ServiceHost, directory = 'etc/nginx/tls'): Promise<Nginx> {
  const port = await findFreePort()
  const placeholder = await createPlaceholderPair()
  const certificatePath = await host.write(`${directory}/site.crt`, placeholder.certificatePem)
  const keyPath = await host.write(`${directory}/site.key`, placeholder.keyPem, 0o600)
  const configPath = await host.write(
    'etc/nginx/nginx.conf',
    nginxConfig(host, { port, certificatePath, keyPath }),
  )
  await startService(host, {
    program: pathOfTool('nginx'),
    args: ['-c', configPath],
    port,
    stopSignal: 'SIGTERM',
  })
  const reload = ['nginx', '-s', 'reload', '-c', configPath]
  const caPath = host.path(`${directory}/ca.pem`)
  const target: TargetText = {
    reload,
    port,
    files: [
      { path: certificatePath, content: ['cert', 'chain'] },
      { path: keyPath, content: ['key'], owner: 'root', group: 'root', mode: '0600' },
      { path: caPath, content: ['ca'], group: 'www-data', mode: '0640' },
    ],
  }
  return { port, configPath, certificatePath, keyPath, caPath, reload, target }
}

function nginxConfig(
  host: ServiceHost,
  server: Pick<Nginx, 'port' | 'certificatePath' | 'keyPath'>,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${host.path(`run/${name}`)};\n`)
    .join('')
  return `user www-data;
daemon off;
worker_processes 2;
pid ${host.path('run/nginx.pid')};
error_log ${host.path('log/error.log')} notice;
events { worker_connections 512; }
http {
  access_log off;
${temporary}  server {
    listen 127.0.0.1:${server.port} ssl;
    server_name site.test;
    ssl_certificate ${server.certificatePath};
    ssl_certificate_key ${server.keyPath};
    location / { return 200 "served\\n"; }
  }
}
`
}
