// What the log proves of each certificate: docs/protocol.md EVD. test/foreign/evidence.test.ts has the verifier, and what is forged.

import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { verifyBlock } from '../../src/audit/block-proofs.ts'
import { parseCheckpoint } from '../../src/audit/checkpoint.ts'
import { parseCsrPem } from '../../src/pki/csr.ts'
import { readEvents } from '../support/audit-log.ts'
import { createDelivery } from '../support/deliveries.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { startProgram, waitUntil } from '../support/processes.ts'
import { startScriptedCa } from '../support/scripted-ca.ts'
import { startTestHub } from '../support/test-hub.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, post, type WireReply } from '../support/wire-client.ts'

const { hub } = useHub(prepare)

type Claims = Readonly<Record<string, unknown>>
interface Line {
  readonly record?: string
  readonly block?: number
  readonly leaves?: string[]
  readonly proof?: string[]
  readonly certificate?: Claims
}

let web: EnrolledHost
let deliveryId: string
let cargaId: string
/** Of the identities in the order of the log, and of the delivered certificate. */
let serials: { first: string; renewed: string; delivered: string }

const serialOf = (reply: WireReply): string =>
  new X509Certificate(reply.json['cert_pem'] as string).serialNumber.toLowerCase()

/** A host that enrolled, renewed, was given a certificate, serves it, and was revoked. */
async function prepare(started: typeof hub): Promise<void> {
  const policy = ['web', '--name', 'webs', '--token-ttl-max', '1h']
  assert.equal((await started.svc('policy', 'set', ...policy)).status, 0)
  web = await enrollHost(started, 'web.example')
  const first = new X509Certificate(web.certPem).serialNumber.toLowerCase()
  const { keyPem, csrPem } = await createKeyAndCsr('web.example')
  const renewal = await post(web.mtls, '/v1/certs/issue', { csr_pem: csrPem })
  assertOk(renewal)
  const renewed = serialOf(renewal)
  const host = withIdentity(started, readIdentity(renewal, keyPem))
  const send = async (tipo_evento: string, payload: object, of?: string): Promise<void> => {
    const body = { tipo_evento, payload, ...(of !== undefined && { entrega_id: of }) }
    assertOk(await post(host, '/v1/events', body))
  }
  await send('cert_renewed', { old_serial: first, new_serial: renewed, trigger: 'manual' })
  ;({ id: deliveryId, cargaId } = await createDelivery(started, 'web.example', 'site'))
  const { csrPem: ofSite } = await createKeyAndCsr('web.example')
  const body = { csr_pem: ofSite, entrega_id: deliveryId }
  const issued = await post(host, '/v1/certs/issue', body)
  assertOk(issued)
  const delivered = serialOf(issued)
  await send('entrega_instalada', { carga_nome: 'site', serial: delivered }, deliveryId)
  const applied = { nome: 'site', alvo: 'nginx.toml', serial: delivered, files: [], probe: 'ok' }
  await send('alvo_aplicado', applied, deliveryId)
  await enrollHost(started, 'other.example')
  const revoked = await started.svc('agent', 'revoke', 'web.example')
  assert.equal(revoked.status, 0, revoked.stderr)
  await waitUntil('all three at the CA', async () => {
    const found = await readEvents(started, 'certificate_revoked_at_ca')
    return found.length >= 3 ? found : undefined
  })
  const { length } = await readEvents(started)
  await waitUntil('a checkpoint of all', async () => {
    const { stdout } = await started.svc('checkpoint')
    return Number(stdout.split('\n')[1]) >= length ? stdout : undefined
  })
  serials = { first, renewed, delivered }
}

let count = 0

async function evidence(...options: readonly string[]) {
  count += 1
  const file = join(hub.directory, `${count}.evidence`)
  const period = ['--from', '1d', '--to', '2100-01-01']
  const ended = await hub.svc('evidence', ...period, '--out', file, ...options)
  const text = await readFile(file, 'utf8').catch(() => '')
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
  const certificates = lines.flatMap<Claims>(({ certificate }) => certificate ?? [])
  const find = (serial: string): Claims =>
    certificates.find((one) => one['serial'] === serial) ?? assert.fail(serial)
  return { ...ended, file, text, lines, certificates, find }
}

/** The numbers of the entries that say so. */
function seqsOf(claims: Claims): Readonly<Record<string, number | null>> {
  const facts = Object.entries(claims).filter(
    ([, value]) => value === null || (typeof value === 'object' && 'seq' in value),
  )
  return Object.fromEntries(
    facts.map(([name, value]) => [name, (value as { seq: number } | null)?.seq ?? null]),
  )
}

async function seqOf(tipo: string, isWanted: (payload: Claims) => boolean = () => true) {
  const found = (await readEvents(hub, tipo)).find(({ payload }) => isWanted(payload))
  return found?.seq ?? assert.fail(tipo)
}

/** As a CA lists what it issued. */
async function issuedSerials(): Promise<string> {
  const types = ['certificate_issued', 'server_certificate_issued', 'certificate_discarded']
  const issued = (await Promise.all(types.map((tipo) => readEvents(hub, tipo)))).flat()
  return issued.map(({ payload }) => `0x${payload['serial'] as string}\n`).join('')
}

describe('svc evidence', () => {
  test('[EVD-1] [EVD-2] [EVD-3] [CLI-130] makes a file that only its owner reads, and says what is in it', async () => {
    const { stdout, stderr, status, file } = await evidence()
    assert.deepEqual([stderr, status], ['', 0])
    const all = (await readEvents(hub)).length
    assert.match(
      stdout,
      new RegExp(
        `^\\S+Z to 2100-01-01T00:00:00.000000Z: entries 1 to ${all} of the log, all of them in the file\n` +
          '5 certificates, 3 of them identities; installed 2, served 1, revoked 3\n' +
          'not compared with the CA: no --ca-serials\n',
      ),
    )
    assert.ok(stdout.endsWith(`${file}\n`))
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const again = await hub.svc('evidence', '--from', '1d', '--to', '0d', '--out', file)
    assert.match(again.stderr, /^svc: error: \S+ exists already\n/)
    const json = JSON.parse((await evidence('--json')).stdout) as object
    assert.partialDeepStrictEqual(json, {
      certificates: 5,
      identities: 3,
      lost: 0,
      rogue: 0,
      absent: 0,
    })
  })

  test('[EVD-7] [EVD-8] [EVD-9] [EVD-13] [ISS-10] each certificate has the entries that say who, under what, and what became of it', async () => {
    const { find } = await evidence()
    const revoked = await seqOf('agent_revoked')
    const atCa = (serial: string) =>
      seqOf('certificate_revoked_at_ca', (payload) => payload['serial'] === serial)
    const issued = (serial: string) =>
      seqOf('certificate_issued', (payload) => payload['serial'] === serial)
    const isWeb = ({ hostname }: Claims) => hostname === 'web.example'
    const asked = {
      enrolled: await seqOf('agent_enrolled', isWeb),
      token: await seqOf('token_created', isWeb),
      rule: await seqOf('politica_set'),
    }
    const nothing = {
      load: null,
      retried: null,
      rotated: null,
      recovered: null,
      installed: null,
      served: null,
      replaced: null,
      cancelled: null,
      not_revoked_at_ca: null,
      superseded_used: null,
    }
    const renewed = find(serials.renewed)
    assert.partialDeepStrictEqual(renewed, {
      hostname: 'web.example',
      purpose: 'identity',
      request: 'renewal',
      politica: 'webs',
      not_recorded: [],
      ca: null,
    })
    const { entrega_id: none, names: noNames, ...facts } = seqsOf(renewed)
    assert.deepEqual([none, noNames], [null, null])
    assert.deepEqual(
      { ...facts, ca: undefined },
      {
        ...nothing,
        ...asked,
        issued: await issued(serials.renewed),
        installed: await seqOf('cert_renewed'),
        revoked,
        revoked_at_ca: await atCa(serials.renewed),
        ca: undefined,
      },
    )
    assert.equal((renewed['revoked'] as { actor: string }).actor, 'admin')
    const first = seqsOf(find(serials.first))
    assert.equal(first['replaced'], await issued(serials.renewed))
    assert.equal(find(serials.first)['request'], 'enrollment')
    const delivered = find(serials.delivered)
    assert.partialDeepStrictEqual(delivered, { entrega_id: deliveryId, request: 'delivery' })
    assert.partialDeepStrictEqual(seqsOf(delivered), {
      enrolled: null,
      token: null,
      rule: asked.rule,
      load: await seqOf('carga_created', (payload) => payload['carga_id'] === cargaId),
      installed: await seqOf('entrega_instalada'),
      served: await seqOf('alvo_aplicado'),
      revoked,
    })
    assert.equal((delivered['served'] as { alvo: string }).alvo, 'nginx.toml')
  })

  test('[EVD-4] [EVD-5] [EVD-6] [API-95] the file has all entries of the period, each in a proven block', async () => {
    const events = await readEvents(hub)
    const middle = events[Math.floor(events.length / 2)] ?? assert.fail()
    for (const options of [[], ['--to', middle.timestamp], ['--from', middle.timestamp]]) {
      const { lines, stderr } = await evidence(...options)
      assert.equal(stderr, '')
      const head = lines[0] as unknown as Record<'checkpoint', string> & Record<string, number>
      const checkpoint =
        parseCheckpoint(`${head.checkpoint.split('\n\n')[0]}\n`) ?? assert.fail(head.checkpoint)
      const records = lines.flatMap(({ record }) => record ?? [])
      const ids = events.filter(({ id }) => records.some((record) => record.includes(id)))
      const { after = -1, until = -1 } = head
      for (const { seq } of events) {
        if (seq > after && seq <= until + 1) assert.ok(ids.some((event) => event.seq === seq))
      }
      for (const { block, leaves = [], proof = [] } of lines) {
        if (block === undefined) continue
        const [hashes, way] = [leaves, proof].map((all) =>
          all.map((hash) => Buffer.from(hash, 'base64')),
        )
        const proven = { leaves: hashes ?? [], proof: way ?? [] }
        assert.ok(verifyBlock(block, proven, checkpoint), `block ${block}`)
      }
    }
    const refused = (entries: number, blocks: number[]) =>
      hub.admin('POST', '/v1/admin/eventos/blocks', { entries, blocks })
    await assert.rejects(refused(1e6, [0]), /the newest checkpoint is of \d+ entries/)
    await assert.rejects(refused(3, [1]), /block 1 is not in a log of 3/)
  })

  test('[EVD-15] [EVD-7] the hub’s own certificate is one of them, with its names', async () => {
    const { certificates } = await evidence()
    const pem = await readFile(join(hub.vaultRoot, 'server.crt'))
    const { serialNumber, fingerprint256 } = new X509Certificate(pem)
    const own = certificates.find(({ purpose }) => purpose === 'server')
    assert.partialDeepStrictEqual(own, {
      serial: serialNumber.toLowerCase(),
      sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
      agente_id: null,
      hostname: null,
      request: 'server',
      replaced: null,
      not_recorded: [],
    })
    const { names } = own ?? assert.fail()
    assert.ok(Array.isArray(names) && names.length > 0)
  })

  test('[EVD-10] [EVD-11] [EVD-3] a rogue certificate and a missing one stand out', async () => {
    const list = join(hub.directory, 'serials')
    const issued = await readEvents(hub, 'certificate_issued')
    const others = issued.filter(({ payload }) => payload['hostname'] !== 'web.example')
    const [other] = others.map(({ payload }) => payload['serial'] as string)
    const own = [`0x${serials.first}`, `serial=${serials.renewed.toUpperCase()}`]
    const decimal = String(BigInt(`0x${serials.delivered}`))
    const ofHub = (await readEvents(hub, 'server_certificate_issued'))[0] ?? assert.fail()
    own.push(ofHub.payload['serial'] as string)
    await writeFile(list, ['# step-ca', ...own, '', decimal, '31337 (0x7a69)', ''].join('\n'))
    const found = await evidence('--ca-serials', list)
    assert.equal(found.status, 2)
    assert.match(found.stdout, /^5 serials of the CA: 1 rogue, 1 missing\nrogue: 7a69\nmissing: /m)
    assert.ok(found.stdout.includes(`missing: ${other} of other.example, entry `))
    assert.equal(
      found.stderr,
      'svc: error: 1 certificates of the CA are not in the log; 1 certificates of the log are not in the list of the CA\n',
    )
    await writeFile(list, [...own, decimal, other].join('\n'))
    assert.equal((await evidence('--ca-serials', list)).status, 0)
    await writeFile(list, 'one\n')
    const wrong = await evidence('--ca-serials', list)
    assert.match(wrong.stderr, /serials, line 1: one is no serial\nsvc: hint: one serial a line/)
  })

  test('[EVD-5] [EVD-11] certificates and acts from before the period are found', async () => {
    const at = (await readEvents(hub, 'carga_created'))[0]?.timestamp ?? assert.fail()
    const list = join(hub.directory, 'serials')
    await writeFile(list, await issuedSerials())
    const { find, status, text } = await evidence('--from', at, '--ca-serials', list)
    assert.equal(status, 0)
    assert.ok(text.includes(`{"ca":"${serials.first.replace(/^0+/, '')}","entry":`))
    const { load, rule } = seqsOf(find(serials.delivered))
    assert.deepEqual([typeof load, typeof rule], ['number', 'number'])
  })

  test('[EVD-1] [EVD-5] --agent has the entries about one agent', async () => {
    const { stdout, status, certificates } = await evidence('--agent', 'web.example')
    assert.equal(status, 0)
    assert.match(stdout, /of agent web\.example only\n3 certificates/)
    assert.ok(certificates.every(({ hostname }) => hostname === 'web.example'))
    const unknown = await evidence('--agent', 'nobody.example')
    assert.match(unknown.stderr, /^svc: error: no agent nobody\.example/)
  })

  test('[EVD-1] [EVD-10] [CLI-106] as a process, which root makes write with root’s rights, with the list on standard input', async () => {
    const file = join(hub.directory, 'process.evidence')
    const all = await issuedSerials()
    const args = ['--from', '1d', '--to', '2100-01-01', '--ca-serials', '-', '--out', file]
    const run = (...more: readonly string[]) =>
      startProgram('svc', ['evidence', ...args, ...more], hub.environment, all).ended
    const { stdout, stderr, status } = await run()
    assert.deepEqual([stderr, status], ['', 0])
    assert.match(stdout, /\n5 serials of the CA: 0 rogue, 0 missing\n/)
    const wrong = await run('--agent', 'nobody.example', '--replace')
    assert.match(wrong.stderr, /^svc: error: no agent nobody\.example/)
    assert.equal(wrong.status, 1)
  })

  test('[EVD-1] says what cannot be', async () => {
    const error = async (...args: readonly string[]) => (await hub.svc('evidence', ...args)).stderr
    const out = ['--out', join(hub.directory, 'x')]
    assert.match(await error('--from', '0d', '--to', '1d', ...out), /--to is not after --from/)
    assert.match(await error('--from', 'x', '--to', '0d', ...out), /--from: x is neither a time/)
    const both = await error('--from', '1d', '--to', '0d', '--out', '-', '--json')
    assert.match(both, /--out - goes neither with --json nor with --replace/)
    const whole = await evidence()
    const printed = await hub.svc('evidence', '--from', '1d', '--to', '2100-01-01', '--out', '-')
    assert.equal(printed.stdout.split('\n').length, whole.text.split('\n').length)
  })
})

describe('svc evidence of a CA whose answers get lost', () => {
  test('[EVD-16] [EVD-17] says what the hub had asked for, beside what is rogue', async () => {
    let isCut = true
    await using ca = await startScriptedCa(() => ({ kind: isCut ? 'cut' : 'sign' }))
    await using lossy = await startTestHub({ caEnvironment: ca.environment })
    const hostname = 'lost.example'
    const { csrPem: csr_pem } = await createKeyAndCsr(hostname)
    const token = await lossy.createToken({ hostname })
    const body = { token, hostname, role: 'web', csr_pem }
    const refused = await post({ port: lossy.ports.enroll }, '/v1/enroll', body)
    assert.equal(refused.status, 502)
    isCut = false
    await lossy.createToken({ hostname: 'later.example' })
    await waitUntil('a checkpoint of all', async () => {
      const { stdout } = await lossy.svc('checkpoint')
      return Number(stdout.split('\n')[1]) >= 4 ? stdout : undefined
    })
    const list = join(lossy.directory, 'serials')
    const own = (await readEvents(lossy, 'server_certificate_issued'))[0] ?? assert.fail()
    await writeFile(list, `${own.payload['serial'] as string}\nbeef`)
    const key = createHash('sha256').update(spkiOf(csr_pem)).digest('hex')
    for (const from of ['1d', new Date(Date.now() + 60_000).toISOString()]) {
      const out = join(lossy.directory, `${from}.evidence`)
      const period = ['--from', from, '--to', '2100-01-01']
      const ended = await lossy.svc('evidence', ...period, '--ca-serials', list, '--out', out)
      assert.equal(ended.status, 2, ended.stderr)
      assert.match(
        ended.stdout,
        new RegExp(
          `\n2 serials of the CA: 1 rogue, 0 missing\nrogue: beef\n1 answers of the CA were lost: .*\nlost: lost.example, asked for at \\S+Z, key ${key}, entry ${own.seq + 2}\n`,
        ),
      )
    }
  })
})

function spkiOf(csrPem: string): Buffer {
  return (parseCsrPem(csrPem) ?? assert.fail()).publicKeySpki
}
