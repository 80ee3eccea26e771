// Every command, through the socket of a hub that runs for real; then its lists again, from the vault itself.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { assertOk, post } from '../support/wire-client.ts'

type Row = Readonly<Record<string, unknown>>

const LISTS = ['token', 'agente', 'carga', 'entrega', 'evento'] as const

let ca: RunningCa
let hub: TestHub
let web1: EnrolledHost
let web2: EnrolledHost

before(async () => {
  ca = await startDevCa()
  hub = await startTestHub({ caEnvironment: ca.environment })
  web1 = await enrollHost(hub, 'web-1.example')
  web2 = await enrollHost(hub, 'web-2.example')
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

async function svc(command: string): Promise<string> {
  const { status, stdout, stderr } = await hub.svc(...command.split(' '))
  assert.deepEqual([status, stderr], [0, ''], command)
  return stdout
}

async function svcJson<T = Row>(command: string): Promise<T> {
  return JSON.parse(await svc(`${command} --json`)) as T
}

async function svcRefuses(command: string): Promise<string> {
  const { status, stdout, stderr } = await hub.svc(...command.split(' '))
  assert.deepEqual([status, stdout], [1, ''], command)
  return stderr
}

async function listRows(noun: (typeof LISTS)[number]): Promise<Row[]> {
  const document = await svcJson<Readonly<Record<string, Row[]>>>(`${noun} list`)
  return document[`${noun}s`] ?? assert.fail(`no ${noun}s`)
}

async function statusOf(deliveryId: unknown): Promise<unknown> {
  const { entregas: rows } = await svcJson<{ entregas: Row[] }>('entrega list --all')
  return rows.find(({ id }) => id === deliveryId)?.['status']
}

async function reportFailed(host: EnrolledHost, deliveryId: string): Promise<void> {
  const event = {
    tipo_evento: 'entrega_falhou',
    payload: { erro: 'disk full' },
    entrega_id: deliveryId,
  }
  assertOk(await post(host.mtls, '/v1/events', event))
}

interface CreatedCargo {
  readonly carga_id: string
  readonly versao?: number
  readonly entregas: readonly { readonly id: string; readonly hostname: string }[]
}

function deliveryOf({ entregas }: CreatedCargo, host: EnrolledHost): string {
  const found = entregas.find(({ hostname }) => hostname === host.hostname)
  return found?.id ?? assert.fail(`no entrega of ${host.hostname}`)
}

describe('beside a running hub', () => {
  test('[CLI-3] [CLI-4] tokens are made, listed without their text, and revoked', async () => {
    const token = await svcJson('token create --hostname web-3.example --role web')
    assert.match(token['token'] as string, /^svct_/)
    assert.doesNotMatch(await svc('token list --json'), /svct_/)
    await svc(`token revoke ${String(token['id'])}`)
    assert.match(await svc('token list'), /web-3\.example +web +expired/)
    assert.match(
      await svcRefuses('token create --hostname hub.test --role web'),
      /^svc: error: hub\.test is a name of the hub itself\nsvc: hint: a host cannot have a name of SVC_SERVER_CN /,
    )
    const request = { hostname: 'web-4.example', role: 'web', ttl_seconds: 8 * 86_400 }
    await assert.rejects(hub.admin('POST', '/v1/admin/tokens', request), {
      message: JSON.stringify({
        error: 'ttl_too_long',
        message: 'a token lives 7d at most',
      }),
    })
  })

  test('[CLI-7] [CLI-8] [CLI-9] a carga gets names, next versions and an end', async () => {
    const made = await svcJson<CreatedCargo>(
      'carga create --tipo csr_cert --nome shop --role web --san shop.example --san 192.0.2.7',
    )
    assert.equal(made.entregas.length, 2)
    const sansNow = async (): Promise<unknown> =>
      (await listRows('carga')).find(({ id }) => id === made.carga_id)?.['sans']
    assert.deepEqual(await sansNow(), ['shop.example', '192.0.2.7'])

    const second = await svcJson<CreatedCargo>(`carga update ${made.carga_id}`)
    assert.equal(second.versao, 2)
    assert.deepEqual(await sansNow(), ['shop.example', '192.0.2.7'])
    assert.equal(await statusOf(deliveryOf(made, web1)), 'substituida')
    assert.equal(await statusOf(deliveryOf(second, web1)), 'pendente')

    await svc(`carga update ${made.carga_id} --san other.example`)
    assert.deepEqual(await sansNow(), ['other.example'])
    await svc(`carga update ${made.carga_id} --no-sans`)
    assert.deepEqual(await sansNow(), [])
    assert.match(
      await svcRefuses(`carga update ${made.carga_id} --san hub.test`),
      /^svc: error: hub\.test covers a name of the hub itself\nsvc: hint: a load cannot hold a name of SVC_SERVER_CN /,
    )

    await svc(`carga remove ${made.carga_id}`)
    assert.equal(await sansNow(), undefined)
    assert.match(await svcRefuses(`carga remove ${made.carga_id}`), /^svc: error: no load /)
  })

  test('[CLI-10] [CLI-11] an entrega that failed is retried, and a cancelled one stays cancelled', async () => {
    const made = await svcJson<CreatedCargo>(
      'carga create --tipo csr_cert --nome site --agente web-1.example --agente web-2.example',
    )
    for (const host of [web1, web2]) await reportFailed(host, deliveryOf(made, host))
    const [ofWeb1, ofWeb2] = [deliveryOf(made, web1), deliveryOf(made, web2)]
    assert.match(await svc('entrega list'), /web-1\.example +site +csr_cert +1 +failed .*disk full/)

    const one = await svcJson<{ entregas: Row[] }>(`entrega retry ${ofWeb1}`)
    assert.deepEqual(
      one.entregas.map((row) => [row['hostname'], row['status'], row['id'] === ofWeb1]),
      [['web-1.example', 'pendente', false]],
    )
    const all = await svcJson<{ entregas: Row[] }>('entrega retry --all')
    assert.deepEqual(
      all.entregas.map(({ hostname }) => hostname),
      ['web-2.example'],
    )
    assert.deepEqual((await svcJson<{ entregas: Row[] }>('entrega retry --all')).entregas, [])

    assert.match(
      await svcRefuses(`entrega cancel ${ofWeb2}`),
      /is replaced by .* already\nsvc: hint: name the delivery that replaced it\n/,
    )
    const next = String(all.entregas[0]?.['id'])
    assert.equal((await svcJson(`entrega cancel ${next}`))['status'], 'cancelada')
    assert.match(
      await svcRefuses(`entrega retry ${next}`),
      /is cancelled already\nsvc: hint: svc load create makes a new one\n/,
    )
  })

  test('[CLI-5] [CLI-6] an agent is shown, revoked, and only then removed', async () => {
    const shown = await svcJson<{ entregas: Row[] }>('agente show web-2.example')
    assert.ok(shown.entregas.length > 0)
    assert.deepEqual(await svcJson(`agente show ${web2.agentId}`), shown)
    assert.match(
      await svcRefuses('agente remove web-2.example'),
      /^svc: error: agent web-2\.example is not revoked\nsvc: hint: svc agent revoke web-2\.example comes first\n/,
    )
    await svc(`agente revoke ${web2.agentId}`)
    assert.match(
      await svcRefuses('carga create --tipo csr_cert --nome late --agente web-2.example'),
      /^svc: error: agent web-2\.example is revoked\nsvc: hint: svc agent list shows the agents that are not revoked; /,
    )
    assert.equal((await svcJson('agente remove web-2.example'))['id'], web2.agentId)
    assert.deepEqual(
      (await listRows('agente')).map(({ hostname }) => hostname),
      ['web-1.example'],
    )
  })

  test('[CLI-2] [CLI-12] [CLI-20] the log has all of it, and verifies', async () => {
    const types = (await listRows('evento')).map((row) => row['tipo_evento'])
    for (const type of [
      'token_revoked',
      'agent_removed',
      'carga_updated',
      'carga_removed',
      'entrega_cancelled',
      'entrega_retried',
    ]) {
      assert.ok(types.includes(type), type)
    }
    assert.match(await svc('evento list --verify --limit 1'), /\nhash chain ok: \d+ entries, head /)
    assert.match(
      await svc('unseal'),
      /passphrase ok\ndatabase ok, through the running hub\nhash chain ok: /,
    )
  })

  test('[CLI-18] the lists are the same when the hub has stopped', async () => {
    const readAll = (): Promise<string[]> =>
      Promise.all(LISTS.flatMap((noun) => [svc(`${noun} list`), svc(`${noun} list --json`)]))
    const beside = await readAll()
    assert.equal((await hub.stop()).status, 0)
    const alone: string[] = []
    for (const noun of LISTS)
      alone.push(await svc(`${noun} list`), await svc(`${noun} list --json`))
    assert.deepEqual(alone, beside)
    assert.match(await svc('unseal'), /database ok, opened directly\n/)
  })
})
