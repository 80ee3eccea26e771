// A Java TLS server without rights of its own, started from its single source file.

import { chown, readFile } from 'node:fs/promises'
import { findFreePort } from '../../support/free-port.ts'
import { pathOfTool } from '../../support/tools.ts'
import { createPlaceholderStore } from './placeholder-pair.ts'
import type { ServiceHost, TargetText } from './service-host.ts'
import { startService } from './service-process.ts'

export interface JavaServer {
  readonly port: number
  readonly storePath: string
  readonly target: TargetText
}

/** Nobody's. */
export const JAVA_USER = 65_530
const PASSWORD = 'changeit'

export async function startJavaServer(host: ServiceHost): Promise<JavaServer> {
  const port = await findFreePort()
  const source = await readFile(new URL('./TlsServer.java', import.meta.url))
  const sourcePath = await host.write('java/TlsServer.java', source)
  const storePath = await host.write(
    'etc/app/keystore.p12',
    await createPlaceholderStore(PASSWORD),
    0o600,
  )
  await chown(storePath, JAVA_USER, JAVA_USER)
  const passwordPath = await host.write('etc/app/keystore.password', `${PASSWORD}\n`, 0o640)
  await chown(passwordPath, 0, JAVA_USER)
  const signalPath = host.path('run/app.reload')
  const ids = [`--reuid=${JAVA_USER}`, `--regid=${JAVA_USER}`, '--clear-groups']
  await startService(host, {
    program: pathOfTool('setpriv'),
    args: [
      ...ids,
      pathOfTool('java'),
      '-XX:TieredStopAtLevel=1',
      '-Xmx128m',
      sourcePath,
      storePath,
      passwordPath,
      signalPath,
      String(port),
    ],
    port,
    stopSignal: 'SIGTERM',
  })
  const target: TargetText = {
    reload: ['touch', signalPath],
    port,
    files: [
      {
        path: storePath,
        format: 'pkcs12',
        password_file: passwordPath,
        owner: String(JAVA_USER),
        group: String(JAVA_USER),
        mode: '0400',
      },
    ],
  }
  return { port, storePath, target }
}
