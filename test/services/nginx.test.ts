// nginx and the agent, as root and as a user without rights: real programs in places as Debian's packages use them.

import assert from 'node:assert/strict'
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { waitUntil } from '../support/processes.ts'
import { ownershipOf } from './support/accounts.ts'
import { startNginx } from './support/nginx.ts'
import { LOAD_TIMEOUT_MS, renewUnderLoad } from './support/renew-under-load.ts'
import { skipUnlessRunnable } from './support/required-programs.ts'
import { waitForServed } from './support/served-certificate.ts'
import { AGENT_USER, ServiceHost } from './support/service-host.ts'
import { useServicesHub } from './support/use-services-hub.ts'

describe('nginx', { skip: skipUnlessRunnable(['nginx', 'openssl']) }, () => {
  const services = useServicesHub()

  test('[TGT-15] [TGT-20] an agent of root installs and renews what nginx serves, and mends what others did to it', async () => {
    await using host = await ServiceHost.create(services(), 'nginx-root')
    const nginx = await startNginx(host)
    await host.writeTarget(nginx.target)
    host.run()
    const first = await host.deliver()
    const applied = await host.waitForApplied(first)
    assert.deepEqual(applied.payload, {
      nome: 'site',
      alvo: 'site.toml',
      serial: await host.newestSerial(),
      files: [nginx.certificatePath, nginx.keyPath, nginx.caPath],
      probe: 'ok',
    })
    const question = { port: nginx.port, rootPath: host.rootPath }
    const served = await waitForServed(question, applied.payload['serial'])
    for (const name of ['DNS:site.test', 'DNS:www.site.test', 'IP Address:127.0.0.1']) {
      assert.ok(served.names.split(', ').includes(name), `${name} in ${served.names}`)
    }
    assert.equal(await ownershipOf(nginx.keyPath), 'root:root 600')
    assert.equal(await ownershipOf(nginx.certificatePath), 'root:root 644')
    assert.equal(await ownershipOf(nginx.caPath), 'root:www-data 640')

    const renewed = await host.waitForApplied(await host.renew())
    assert.notEqual(renewed.payload['serial'], served.serial)
    await waitForServed(question, renewed.payload['serial'])

    // Each is done once the one before is mended, so that each is told by itself.
    const key = await readFile(nginx.keyPath, 'utf8')
    const meddling: readonly (readonly [string, () => Promise<unknown>])[] = [
      [nginx.keyPath, () => rm(nginx.keyPath)],
      [nginx.certificatePath, () => writeFile(nginx.certificatePath, 'mine\n')],
      [nginx.caPath, () => chmod(nginx.caPath, 0o666)],
    ]
    for (const [index, [path, meddle]] of meddling.entries()) {
      await meddle()
      const mended = await waitUntil('the drift to be told', async () => {
        const events = await host.events('alvo_aplicado')
        return events.filter(({ payload }) => 'drift' in payload)[index]
      })
      assert.deepEqual(mended.payload['drift'], [path])
    }
    assert.equal(await readFile(nginx.keyPath, 'utf8'), key)
    assert.equal(await ownershipOf(nginx.caPath), 'root:www-data 640')
    await waitForServed(question, renewed.payload['serial'])
    assert.deepEqual(
      (await readdir(dirname(nginx.keyPath))).sort(),
      ['ca.pem', 'site.crt', 'site.key'],
      'no staged file is left',
    )
    assert.deepEqual(await host.events('alvo_revertido'), [])
  })

  test('[TGT-25] [TGT-26] root applies beside an agent without rights, each renewal and what others did', async () => {
    await using host = await ServiceHost.create(services(), 'nginx-user', AGENT_USER)
    const nginx = await startNginx(host)
    await host.writeTarget(nginx.target)
    const agent = host.run()
    let entrega = await host.deliver()
    for (const because of ['first_version', 'new_version']) {
      const serial = await host.waitForPair(entrega)
      const status = await readFile(`/proc/${agent.pid}/status`, 'utf8')
      const ids = [AGENT_USER, AGENT_USER, AGENT_USER, AGENT_USER].join('\t')
      assert.ok(status.includes(`Uid:\t${ids}\nGid:\t${ids}\n`), status)
      const { status: exit, stdout, stderr } = await host.apply()
      assert.equal(exit, 0, stderr + stdout)
      assert.match(stdout, new RegExp(`: applied, ${because}\n`))
      const question = { port: nginx.port, rootPath: host.rootPath }
      await waitForServed(question, serial)
      assert.equal((await host.waitForApplied(entrega)).payload['serial'], serial)
      assert.equal(await ownershipOf(nginx.keyPath), 'root:root 600')
      if (because === 'first_version') entrega = await host.renew()
    }
    await rm(nginx.keyPath)
    const { stdout } = await host.apply()
    assert.match(stdout, /: applied, drift\n/)
    await host.waitForEvent('alvo_aplicado', ({ payload }) =>
      [payload['drift']].flat().includes(nginx.keyPath),
    )
    assert.deepEqual(await host.events('alvo_revertido'), [])
  })

  test(
    '[TGT-15] no handshake fails while nginx gets one certificate after the other',
    { timeout: LOAD_TIMEOUT_MS },
    async (context) => {
      await using host = await ServiceHost.create(services(), 'nginx-load')
      const nginx = await startNginx(host)
      await host.writeTarget(nginx.target)
      await renewUnderLoad(context, host, nginx.port)
    },
  )
})
