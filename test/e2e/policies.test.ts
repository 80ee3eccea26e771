// A fleet under a politica that was laid down before its first host, on real processes: the token, the identity, what the
// host gets by itself, a politica that is tightened and loosened under a running agent, a rebuilt host.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { enrolHost, type ManagedHost } from '../support/managed-host.ts'
import { type RunningProgram, runProgram, waitUntil } from '../support/processes.ts'

interface Listed {
  readonly id: string
  readonly nome: string
  readonly status: string
  readonly erro: string | null
}

const HOSTNAME = 'web-01'
const NAME = 'www.shop.example'
const LIFE_SECONDS = 20 * 60

const started = new AsyncDisposableStack()
let hub: TestHub
let host: ManagedHost
let agent: RunningProgram
let cargaId: string

before(async () => {
  const ca = started.use(await startDevCa())
  hub = started.use(
    await startTestHub({
      caEnvironment: ca.environment,
      environment: { SVC_SERVER_SANS: 'localhost' },
    }),
  )
})
after(() => started.disposeAsync())

async function svc(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await hub.svc(...args)
  assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  return stdout
}

async function svcRefused(...args: string[]): Promise<string> {
  const { status, stderr } = await hub.svc(...args)
  assert.equal(status, 1, args.join(' '))
  return stderr
}

const certificateAt = async (path: string): Promise<X509Certificate> =>
  new X509Certificate(await readFile(join(host.dataDir, path)))

/** Without the minute by which the CA dates back. */
function lifeOf({ validFromDate, validToDate }: X509Certificate): number {
  return (validToDate.getTime() - validFromDate.getTime()) / 1000 - 60
}

/** The newest entrega of the host, once it is in this status. */
async function waitForNewest(status: string): Promise<Listed> {
  return waitUntil(
    `the newest entrega to be ${status}`,
    async () => {
      const { entregas } = await hub.admin<{ entregas: Listed[] }>('GET', '/v1/admin/entregas')
      const newest = entregas.at(-1)
      return newest?.status === status ? newest : undefined
    },
    90_000,
  )
}

describe('a politica', () => {
  test('[POL-5] [POL-15] stands before the first host, and bounds its token', async () => {
    const create = ['carga', 'create', '--tipo', 'csr_cert', '--nome', 'site', '--unassigned']
    const made = await svc(...create, '--san', NAME, '--json')
    cargaId = (JSON.parse(made) as { carga_id: string }).carga_id
    const limits = ['--token-ttl-max', '30m', '--cert-ttl', '20m', '--san', '*.shop.example']
    await svc('politica', 'set', 'web', ...limits, '--carga', cargaId)
    const token = ['token', 'create', '--hostname', HOSTNAME, '--role', 'web', '--ttl', '1h']
    assert.match(await svcRefused(...token), /lives 30m at most: policy web/)
  })

  test('[POL-7] [POL-13] gives the host an identity of that life, and its carga without another word', async () => {
    host = started.use(await enrolHost(hub, HOSTNAME))
    agent = host.run()
    await waitForNewest('instalada')
    const delivered = await certificateAt('out/site.crt')
    assert.match(delivered.subject, /^CN=web-01$/m)
    assert.match(delivered.subjectAltName ?? '', /DNS:www\.shop\.example/)
    for (const path of ['identity/agent.crt', 'out/site.crt']) {
      assert.equal(lifeOf(await certificateAt(path)), LIFE_SECONDS, path)
    }
  })

  test('[POL-10] that is tightened warns, lets the identity renew, and fails what it forbids with the pair left in place', async () => {
    const tighten = ['politica', 'set', 'web', '--san', 'other.shop.example']
    assert.match(
      await svcRefused(...tighten),
      /automatic load site has the name www\.shop\.example/,
    )
    const warned = await svc(...tighten, '--no-cargas')
    assert.match(warned, /warning: the policy does not permit certificates of these loads/)
    assert.match(warned, new RegExp(`site +www\\.shop\\.example +web-01 +${cargaId}`))

    const rotated = await host.agent('rotate')
    assert.equal(rotated.status, 0, rotated.stderr)
    const { serialNumber } = await certificateAt('out/site.crt')
    const { id } = await waitForNewest('instalada')
    await svc('entrega', 'retry', id)
    const failed = await waitForNewest('falhou')
    assert.equal(failed.erro, 'the hub answered 403 csr_cn_mismatch')
    assert.equal((await certificateAt('out/site.crt')).serialNumber, serialNumber)
    assert.match(hub.logText(), /Names not permitted by the politica of the role/)

    await svc('politica', 'set', 'web', '--san', '*.shop.example', '--carga', cargaId)
    await svc('entrega', 'retry', failed.id)
    await waitForNewest('instalada')
    assert.notEqual((await certificateAt('out/site.crt')).serialNumber, serialNumber)
  })

  test('[POL-13] gives a rebuilt host the same again, once', async () => {
    agent.kill('SIGKILL')
    await agent.ended
    await rm(host.dataDir, { recursive: true, force: true })
    const token = await hub.createToken({ hostname: HOSTNAME, reenroll: true })
    const environment = { ...host.environment, SVC_ENROLL_TOKEN: token }
    const enrolled = await runProgram('svc-agent', ['enroll'], environment)
    assert.equal(enrolled.status, 0, enrolled.stderr)
    agent = host.run()
    await waitForNewest('instalada')
    assert.equal(lifeOf(await certificateAt('out/site.crt')), LIFE_SECONDS)
    const { entregas } = await hub.admin<{ entregas: Listed[] }>('GET', '/v1/admin/entregas')
    const standing = entregas.filter(({ status }) => status !== 'substituida')
    assert.equal(standing.length, 1, JSON.stringify(entregas))
  })

  test('[POL-4] that is removed leaves what there is, and the CA decides again', async () => {
    await svc('politica', 'remove', 'web')
    assert.equal(lifeOf(await certificateAt('identity/agent.crt')), LIFE_SECONDS)
    const rotated = await host.agent('rotate')
    assert.equal(rotated.status, 0, rotated.stderr)
    assert.equal(lifeOf(await certificateAt('identity/agent.crt')), 86_400)
    assert.match(await svc('evento', 'list', '--verify'), /hash chain ok/)
  })
})
