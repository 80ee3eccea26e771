// Debian's rsyslog as a receiver of syslog over TLS, with the library that it is told to use. Each message is a line of its file.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './processes.ts'
import { pathOfTool } from './tools.ts'
import { isListening } from './webhook-receiver.ts'

export interface RsyslogOptions {
  readonly driver: 'gtls' | 'ossl'
  readonly certificatePem: string
  readonly keyPem: string
  /** Those whose names it takes; without any it takes everybody. */
  readonly clients?: { readonly rootsPem: string; readonly names: readonly string[] }
}

export interface Rsyslog extends AsyncDisposable {
  readonly port: number
  /** What it wrote, in its order. */
  lines(): Promise<string[]>
  start(): Promise<void>
  kill(): Promise<void>
}

export async function createRsyslog(parent: string, options: RsyslogOptions): Promise<Rsyslog> {
  const { driver, clients } = options
  const directory = join(parent, `rsyslog-${driver}`)
  await mkdir(directory)
  const port = await findFreePort()
  const path = (name: string): string => join(directory, name)
  await writeFile(path('cert.pem'), options.certificatePem)
  await writeFile(path('key.pem'), options.keyPem, { mode: 0o600 })
  await writeFile(path('roots.pem'), clients?.rootsPem ?? options.certificatePem)
  const names = (clients?.names ?? []).map((name) => JSON.stringify(name)).join(', ')
  await writeFile(
    path('rsyslog.conf'),
    `global(workDirectory="${directory}" defaultNetstreamDriver="${driver}"
  defaultNetstreamDriverCAFile="${path('roots.pem')}"
  defaultNetstreamDriverCertFile="${path('cert.pem')}" defaultNetstreamDriverKeyFile="${path('key.pem')}")
module(load="imtcp" streamDriver.name="${driver}" streamDriver.mode="1"
  streamDriver.authMode="${clients === undefined ? 'anon' : 'x509/name'}"${
    clients === undefined ? '' : `\n  permittedPeer=[${names}]`
  })
template(name="json" type="list" option.jsonf="on") {
  property(outname="pri" name="pri" format="jsonf")
  property(outname="protocol" name="protocol-version" format="jsonf")
  property(outname="time" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="hostname" name="hostname" format="jsonf")
  property(outname="app" name="app-name" format="jsonf")
  property(outname="procid" name="procid" format="jsonf")
  property(outname="msgid" name="msgid" format="jsonf")
  property(outname="data" name="structured-data" format="jsonf")
  property(outname="msg" name="msg" format="jsonf")
}
input(type="imtcp" port="${port}" address="127.0.0.1")
action(type="omfile" file="${path('log')}" template="json")
`,
  )
  let child: ReturnType<typeof spawn> | undefined
  const kill = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'exit')
  }
  return {
    port,
    lines: async () => {
      const text = await readFile(path('log'), 'utf8').catch(() => '')
      return text
        .slice(0, text.lastIndexOf('\n') + 1)
        .split('\n')
        .filter((line) => line !== '')
    },
    start: async () => {
      await rm(path('pid'), { force: true })
      const args = ['-n', '-f', path('rsyslog.conf'), '-i', path('pid')]
      child = spawn(pathOfTool('rsyslogd'), args, { stdio: 'ignore' })
      await waitUntil('rsyslog to listen', () => isListening(port))
    },
    kill,
    [Symbol.asyncDispose]: kill,
  }
}
