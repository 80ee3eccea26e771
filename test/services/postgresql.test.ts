// A PostgreSQL cluster, which is particular about whose its key is, and speaks TLS only when asked in its own way.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runTool } from '../support/processes.ts'
import { ownershipOf } from './support/accounts.ts'
import { startPostgresql, type Postgresql } from './support/postgresql.ts'
import { postgresProgram, skipUnlessRunnable } from './support/required-programs.ts'
import { askServedSerial, waitForServed } from './support/served-certificate.ts'
import { ServiceHost, type TargetText } from './support/service-host.ts'
import { useServicesHub } from './support/use-services-hub.ts'

const skip = skipUnlessRunnable([postgresProgram('postgres'), 'setpriv', 'openssl'])

describe('postgresql', { skip }, () => {
  const services = useServicesHub()

  test('[TGT-12] [TGT-15] [TGT-16] a key that it may not read is taken back; it serves one of its group, and one of its own', async () => {
    await using host = await ServiceHost.create(services(), 'postgresql')
    const server = await startPostgresql(host)
    const question = { port: server.port, rootPath: host.rootPath, starttls: 'postgres' } as const
    // Nobody but root may read this key. The server goes on with what it has; only the probe shows that.
    const placeholder = await askServedSerial(question)
    await host.writeTarget(targetOf(server, { owner: 'root', group: 'root', mode: '0600' }))
    host.run()
    const first = await host.deliver()
    const reverted = await host.waitForEvent('alvo_revertido')
    assert.equal(reverted.entrega_id, first)
    assert.equal(reverted.payload['step'], 'probe')
    assert.match(
      String(reverted.payload['reason']),
      new RegExp(`serves serial ${placeholder}, not `),
    )
    assert.equal(await ownershipOf(server.keyPath), 'root:ssl-cert 640')
    assert.equal(await askServedSerial(question), placeholder)

    const ofItsGroup = { owner: 'root', group: 'ssl-cert', mode: '0640' }
    await host.writeTarget(targetOf(server, ofItsGroup))
    const installed = await host.waitForEvent('alvo_aplicado')
    assert.equal(installed.entrega_id, first)
    const served = await waitForServed(question, installed.payload['serial'])
    assert.match(served.names, /DNS:site\.test/)
    assert.equal(await ownershipOf(server.keyPath), 'root:ssl-cert 640')
    assert.match(await selectServedVersion(server), /^TLSv1\.3$/m)
    const renewed = await host.waitForApplied(await host.renew())
    assert.notEqual(renewed.payload['serial'], installed.payload['serial'])
    await waitForServed(question, renewed.payload['serial'])

    const ofItsOwn = { owner: 'postgres', group: 'postgres', mode: '0600' }
    await host.writeTarget(targetOf(server, ofItsOwn))
    const last = await host.waitForApplied(await host.renew())
    await waitForServed(question, last.payload['serial'])
    assert.equal(await ownershipOf(server.keyPath), 'postgres:postgres 600')
    assert.equal((await host.events('alvo_revertido')).length, 1)
  })
})

function targetOf(
  server: Postgresql,
  keyFile: { readonly owner: string; readonly group: string; readonly mode: string },
): TargetText {
  return {
    reload: server.reload,
    port: server.port,
    probeProtocol: 'postgres',
    files: [
      { path: server.certificatePath, content: ['cert', 'chain'] },
      { path: server.keyPath, content: ['key'], ...keyFile },
    ],
  }
}

/** The TLS version of a real session. */
async function selectServedVersion({ port }: Postgresql): Promise<string> {
  return runTool('psql', [
    `host=127.0.0.1 port=${port} user=postgres dbname=postgres sslmode=require`,
    '-Atc',
    'select version from pg_stat_ssl where pid = pg_backend_pid()',
  ])
}
