// A Java TLS server with a PKCS#12 key store of its own.

import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { JAVA_USER, startJavaServer } from './support/java-server.ts'
import { skipUnlessRunnable } from './support/required-programs.ts'
import { waitForServed } from './support/served-certificate.ts'
import { ServiceHost } from './support/service-host.ts'
import { useServicesHub } from './support/use-services-hub.ts'

describe('Java', { skip: skipUnlessRunnable(['java', 'setpriv', 'openssl']) }, () => {
  const services = useServicesHub()

  test('[TGT-11] [TGT-15] a Java server reads its key store, and the renewed one', async () => {
    await using host = await ServiceHost.create(services(), 'java')
    const { port, storePath, target } = await startJavaServer(host)
    await host.writeTarget(target)
    host.run()
    let entrega = await host.deliver()
    for (const round of ['installed', 'renewed']) {
      const { payload } = await host.waitForApplied(entrega)
      const served = await waitForServed({ port, rootPath: host.rootPath }, payload['serial'])
      assert.match(served.names, /DNS:site\.test/)
      const { uid, gid, mode } = await stat(storePath)
      assert.deepEqual([uid, gid, mode & 0o7777], [JAVA_USER, JAVA_USER, 0o400])
      if (round === 'installed') entrega = await host.renew()
    }
    assert.deepEqual(await host.events('alvo_revertido'), [])
  })
})
