// haproxy as Debian sets it up: a master that is told to reload by a signal, and workers without rights.

import { findFreePort } from '../../support/free-port.ts'
import { pathOfTool } from '../../support/tools.ts'
import { createPlaceholderPair } from './placeholder-pair.ts'
import type { ServiceHost, TargetText } from './service-host.ts'
import { startService } from './service-process.ts'

export interface Haproxy {
  readonly port: number
  readonly pemPath: string
  readonly target: TargetText
}

export async function startHaproxy(host: ServiceHost): Promise<Haproxy> {
  const port = await findFreePort()
  const { certificatePem, keyPem } = await createPlaceholderPair()
  const pemPath = await host.write('etc/haproxy/certs/site.pem', certificatePem + keyPem, 0o600)
  const configPath = await host.write('etc/haproxy/haproxy.cfg', haproxyConfig(host, port, pemPath))
  const pidPath = host.path('run/haproxy.pid')
  await startService(host, {
    program: pathOfTool('haproxy'),
    args: ['-W', '-f', configPath, '-p', pidPath],
    port,
    stopSignal: 'SIGTERM',
  })
  // As the unit's two ExecReload lines have it.
  const reload = `haproxy -c -q -f ${configPath} && kill -USR2 "$(cat ${pidPath})"`
  const target: TargetText = {
    reload: ['/bin/sh', '-c', reload],
    port,
    files: [{ path: pemPath, content: ['cert', 'chain', 'key'], group: 'haproxy', mode: '0640' }],
  }
  return { port, pemPath, target }
}

/** A worker gets the listening sockets of the one before it through the stats socket. */
function haproxyConfig(host: ServiceHost, port: number, pemPath: string): string {
  return `global
  user haproxy
  group haproxy
  stats socket ${host.path('run/haproxy.sock')} mode 600 level admin expose-fd listeners
  ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets

defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s

frontend site
  bind 127.0.0.1:${port} ssl crt ${pemPath}
  http-request return status 200 content-type text/plain string served
`
}
