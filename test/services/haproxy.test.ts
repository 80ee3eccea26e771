// haproxy in master-worker mode, told to reload as its Debian unit tells it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ownershipOf } from './support/accounts.ts'
import { startHaproxy } from './support/haproxy.ts'
import { LOAD_TIMEOUT_MS, renewUnderLoad } from './support/renew-under-load.ts'
import { skipUnlessRunnable } from './support/required-programs.ts'
import { waitForServed } from './support/served-certificate.ts'
import { ServiceHost } from './support/service-host.ts'
import { useServicesHub } from './support/use-services-hub.ts'

describe('haproxy', { skip: skipUnlessRunnable(['haproxy', 'openssl']) }, () => {
  const services = useServicesHub()

  test('[TGT-10] [TGT-15] certificate, chain and key come in one file, and so does the renewal', async () => {
    await using host = await ServiceHost.create(services(), 'haproxy-root')
    const { port, pemPath, target } = await startHaproxy(host)
    await host.writeTarget({ ...target, keyType: 'rsa-2048' })
    host.run()
    let entrega = await host.deliver()
    for (const round of ['installed', 'renewed']) {
      const { payload } = await host.waitForApplied(entrega)
      const served = await waitForServed({ port, rootPath: host.rootPath }, payload['serial'])
      assert.equal(served.keyType, 'rsa')
      assert.match(served.names, /DNS:www\.site\.test/)
      assert.equal(await ownershipOf(pemPath), 'root:haproxy 640')
      if (round === 'installed') entrega = await host.renew()
    }
    assert.deepEqual(await host.events('alvo_revertido'), [])
  })

  test(
    '[TGT-15] no handshake fails while haproxy gets one certificate after the other',
    { timeout: LOAD_TIMEOUT_MS },
    async (context) => {
      await using host = await ServiceHost.create(services(), 'haproxy-load')
      const { port, target } = await startHaproxy(host)
      await host.writeTarget(target)
      await renewUnderLoad(context, host, port)
    },
  )
})
