// Sealed files as they come into the hub: docs/protocol.md BLB.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { readEvents } from '../support/audit-log.ts'
import { createDelivery } from '../support/deliveries.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import {
  asSealed,
  bytesOf,
  createAgeKeys,
  createSealedCargo,
  enrollSealed,
  fetchBlob,
  fingerprintOf,
  manifestOf,
  openWith,
  type SealedHost,
  sealForHosts,
  sealTo,
  updateSealedCargo,
} from '../support/sealed-files.ts'
import { useCa, useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, put } from '../support/wire-client.ts'

const { hub } = useHub()
const { startHub } = useCa()

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
const SECRET = 'the secret of the delivery'

interface Recipients {
  readonly agentes: readonly { readonly hostname: string; readonly recipient: string | null }[]
  readonly escrow: readonly string[]
  readonly content_bytes_max: number
}

const listRecipients = (wanted: object): Promise<Recipients> =>
  hub.admin('POST', '/v1/admin/recipients/list', { agentes: [], roles: [], ...wanted })

describe('a sealed file that comes in', () => {
  test('[BLB-8] [BLB-10] is taken for agents by their recipients, with escrow, and its carga says nothing of its content', async () => {
    const host = await enrollSealed(hub, 'taken.example')
    const escrow = await createAgeKeys()
    const sealed = await sealForHosts([host], SECRET, [escrow.recipient])
    const { carga_id: id } = await createSealedCargo(hub, 'taken', sealed)
    assert.equal(await openWith(escrow, (await fetchBlob(host, id)).bytes), SECRET)
    const created = (await readEvents(hub, 'carga_created')).find(
      ({ payload }) => payload['carga_id'] === id,
    )
    const file = bytesOf(sealed)
    assert.deepEqual(created?.payload, {
      actor: 'admin',
      carga_id: id,
      tipo: 'selado',
      nome: 'taken',
      versao: 1,
      sans: [],
      agentes: ['taken.example'],
      sha256: createHash('sha256').update(file).digest('hex'),
      bytes: file.length,
      escrow: [fingerprintOf(escrow.recipient)],
    })
  })

  test('[BLB-7] is refused, by name, unless it is an age file for exactly those that are named', async () => {
    const host = await enrollSealed(hub, 'refused.example')
    const file = await sealTo([host.recipient], SECRET)
    const two = await sealTo([host.recipient, (await createAgeKeys()).recipient], SECRET)
    const classic = new Encrypter()
    classic.addRecipient(await identityToRecipient(await generateX25519Identity()))
    const withPassphrase = new Encrypter()
    withPassphrase.setPassphrase('secret')
    withPassphrase.setScryptWorkFactor(10)
    const files: Readonly<Record<string, Buffer>> = {
      'something else': Buffer.from(SECRET),
      'another version': Buffer.from(file.toString('latin1').replace('/v1', '/v2'), 'latin1'),
      'cut in its header': file.subarray(0, 500),
      'cut in its content': file.subarray(0, -SECRET.length - 1),
      armoured: Buffer.from(`-----BEGIN AGE ENCRYPTED FILE-----\n${file.toString('base64')}`),
      classic: Buffer.from(await classic.encrypt(SECRET)),
      'with a passphrase': Buffer.from(await withPassphrase.encrypt(SECRET)),
      'for one more': two,
      'without an end of its header': Buffer.from(
        'age-encryption.org/v1\n'.padEnd(5_000_000, '-> '),
      ),
    }
    for (const [name, bytes] of Object.entries(files)) {
      await assert.rejects(
        createSealedCargo(hub, 'x', asSealed(bytes, [host])),
        /sealed_invalid/,
        name,
      )
    }
    const good = asSealed(file, [host])
    for (const conteudo of [`${good.conteudo}=`, `${good.conteudo} `, `!${good.conteudo}`, 'é']) {
      const refused = createSealedCargo(hub, 'x', { ...good, conteudo })
      await assert.rejects(refused, /sealed_invalid/, conteudo.slice(0, 5))
    }
    const twice = {
      ...asSealed(two, [host]),
      destinatarios: [...good.destinatarios, ...good.destinatarios],
    }
    await assert.rejects(createSealedCargo(hub, 'x', twice), /sealed_invalid.*names agent .* twice/)
    const badEscrow = { ...asSealed(two, [host]), escrow: [`age1${'q'.repeat(58)}`] }
    await assert.rejects(createSealedCargo(hub, 'x', badEscrow), /escrow_invalid/)
    assert.deepEqual(await manifestOf(host), [])
  })

  test('[BLB-7] [ENV-21] holds at most SVC_BLOB_MAX, as svc and hub both say', async () => {
    await using small = await startHub({ SVC_BLOB_MAX: '1000' })
    const host = await enrollSealed(small, 'small.example')
    const wanted = { agentes: [host.hostname], roles: [] }
    const listed = await small.admin<Recipients>('POST', '/v1/admin/recipients/list', wanted)
    assert.equal(listed.content_bytes_max, 1000)
    const create = async (bytes: number): Promise<unknown> =>
      createSealedCargo(small, `f${bytes}`, await sealForHosts([host], randomBytes(bytes)))
    await create(1000)
    await assert.rejects(create(1001), /content_too_large.*1001 bytes, over the limit of 1000/)
    await create(0)
  })

  test('[BLB-7] [LIM-22] holds a mebibyte by default', async () => {
    const host = await enrollSealed(hub, 'large.example')
    const content = randomBytes(1024 * 1024)
    const sealed = await sealForHosts([host], content)
    const { carga_id: id } = await createSealedCargo(hub, 'large', sealed)
    const replies = await Promise.all([1, 2, 3, 4].map(() => fetchBlob(host, id)))
    for (const { bytes } of replies) assert.ok(bytes.equals(bytesOf(sealed)))
    const more = await sealForHosts([host], Buffer.concat([content, Buffer.from('x')]))
    await assert.rejects(createSealedCargo(hub, 'larger', more), /content_too_large/)
    const { conteudo } = sealed
    const huge = { ...sealed, conteudo: conteudo.repeat(9) }
    await assert.rejects(createSealedCargo(hub, 'huge', huge), /request_invalid/)
    const outrageous = { ...sealed, conteudo: conteudo.repeat(12) }
    await assert.rejects(
      createSealedCargo(hub, 'huge', outrageous),
      /body_too_large|EPIPE|ECONNRESET/,
    )
  })

  test('[BLB-8] is refused, and nothing is written, when an agent changed its recipient meanwhile', async () => {
    const hosts = [
      await enrollSealed(hub, 'stays.example'),
      await enrollSealed(hub, 'changes.example'),
    ]
    const sealed = await sealForHosts(hosts, SECRET)
    const [, changes] = hosts
    assert.ok(changes)
    const { recipient } = await createAgeKeys()
    assertOk(await put(changes.mtls, '/v1/recipient', { recipient }))
    const refused = createSealedCargo(hub, 'changed', sealed)
    await assert.rejects(refused, (error: Error) => {
      assert.match(error.message, /recipient_changed/)
      assert.match(error.message, /changes\.example/)
      assert.doesNotMatch(error.message, /stays\.example/)
      return true
    })
    for (const host of hosts) assert.deepEqual(await manifestOf(host), [])
    const { cargas } = await hub.admin<{ cargas: { nome: string }[] }>('GET', '/v1/admin/cargas')
    assert.equal(
      cargas.some(({ nome }) => nome === 'changed'),
      false,
    )
  })

  test('[BLB-8] is refused for an agent without a recipient, an unknown one and a revoked one', async () => {
    const { recipient } = await createAgeKeys()
    const silent = Object.assign(await enrollHost(hub, 'silent.example'), { recipient })
    const forSilent = await sealForHosts([silent], SECRET)
    await assert.rejects(
      createSealedCargo(hub, 'x', forSilent),
      /recipient_changed.*silent\.example/,
    )
    const unknown = { agentId: UNKNOWN_ID, recipient }
    await assert.rejects(
      createSealedCargo(hub, 'x', await sealForHosts([unknown], SECRET)),
      /agent_not_found/,
    )
    const gone = await enrollSealed(hub, 'gone.example')
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: gone.hostname })
    await assert.rejects(
      createSealedCargo(hub, 'x', await sealForHosts([gone], SECRET)),
      /agent_revoked/,
    )
  })

  test('[BLB-9] a carga has what its kind has, and nothing else', async () => {
    const host = await enrollSealed(hub, 'kinds.example')
    const selado = await sealForHosts([host], SECRET)
    const base = { nome: 'kind', agentes: [], roles: [], sans: [] }
    const named = { agentes: [host.hostname] }
    const refusals: readonly (readonly [object, RegExp])[] = [
      [{ ...base, ...named, tipo: 'selado' }, /content_missing/],
      [{ ...base, tipo: 'selado', selado, sans: ['a.example'] }, /sans_unwanted/],
      [{ ...base, ...named, tipo: 'selado', selado }, /agents_unwanted/],
      [{ ...base, roles: ['web'], tipo: 'selado', selado }, /agents_unwanted/],
      [{ ...base, ...named, tipo: 'csr_cert', selado }, /content_unwanted/],
      [{ ...base, tipo: 'push', selado }, /tipo_invalid/],
    ]
    for (const [cargo, refusal] of refusals) {
      await assert.rejects(hub.admin('POST', '/v1/admin/cargas', cargo), refusal)
    }
    const pair = await createDelivery(hub, host.hostname, 'pair')
    const { carga_id: carga } = await createSealedCargo(hub, 'file', selado)
    const updates: readonly (readonly [object, RegExp])[] = [
      [{ carga: pair.cargaId, selado }, /content_unwanted/],
      [{ carga }, /content_missing/],
      [{ carga, selado, sans: [] }, /sans_unwanted/],
    ]
    for (const [update, refusal] of updates) {
      await assert.rejects(hub.admin('POST', '/v1/admin/cargas/update', update), refusal)
    }
    for (const path of ['/v1/admin/cargas/conteudo', '/v1/admin/recipients/list']) {
      const body = { carga: pair.cargaId, agentes: [], roles: [] }
      await assert.rejects(hub.admin('POST', path, body), /cargo_not_sealed/)
    }
  })

  test('[DEL-12] [DEL-13] writes one file, which no other live entrega of the agent writes', async () => {
    const host = await enrollSealed(hub, 'files.example')
    const seal = async (nome: string): Promise<unknown> =>
      createSealedCargo(hub, nome, await sealForHosts([host], SECRET))
    await createDelivery(hub, host.hostname, 'site')
    await seal('site')
    await assert.rejects(seal('site'), /nome_taken/)
    await assert.rejects(seal('SITE'), /nome_taken/)
    await assert.rejects(seal('site.crt'), /nome_taken/)
    await assert.rejects(seal('Site.KEY'), /nome_taken/)
    await seal('mail.key')
    await assert.rejects(createDelivery(hub, host.hostname, 'mail'), /nome_taken/)
    await seal('site.crt.old')
  })
})

describe('the next version of a sealed carga', () => {
  test('[BLB-13] is made from the versao that whoever makes it has read, if they say which', async () => {
    const host = await enrollSealed(hub, 'read.example')
    const { carga_id: carga } = await createSealedCargo(
      hub,
      'read',
      await sealForHosts([host], 'one'),
    )
    const readContent = (): Promise<{ versao: number }> =>
      hub.admin('POST', '/v1/admin/cargas/conteudo', { carga })
    const { versao } = await readContent()
    await updateSealedCargo(hub, carga, await sealForHosts([host], 'two'))
    const next = { carga, versao, selado: await sealForHosts([host], 'one') }
    await assert.rejects(
      hub.admin('POST', '/v1/admin/cargas/update', next),
      /versao_changed.*has version 2 now/,
    )
    assert.equal(await openWith(host.keys, (await fetchBlob(host, carga)).bytes), 'two')
    await hub.admin('POST', '/v1/admin/cargas/update', { ...next, versao: 2 })
    assert.equal(await openWith(host.keys, (await fetchBlob(host, carga)).bytes), 'one')
  })

  test('[BLB-9] [BLB-10] is for exactly the agents that have an entrega of it', async () => {
    const hosts = [
      await enrollSealed(hub, 'next-1.example'),
      await enrollSealed(hub, 'next-2.example'),
    ]
    const [first, second] = hosts
    assert.ok(first && second)
    const stranger = await enrollSealed(hub, 'next-3.example')
    const { carga_id: id } = await createSealedCargo(hub, 'next', await sealForHosts(hosts, 'one'))
    const update = async (for_: readonly SealedHost[]): Promise<unknown> =>
      updateSealedCargo(hub, id, await sealForHosts(for_, 'two'))
    await assert.rejects(update([first]), /recipients_incomplete.*not sealed for next-2\.example/)
    await assert.rejects(
      update([first, stranger]),
      /not sealed for next-2\.example; sealed for next-3\.example/,
    )
    assert.equal(await openWith(first.keys, (await fetchBlob(first, id)).bytes), 'one')
    const escrow = await createAgeKeys()
    const sealed = await sealForHosts(hosts, 'two', [escrow.recipient])
    const updated = await updateSealedCargo(hub, id, sealed)
    assert.equal(updated.versao, 2)
    assert.deepEqual(updated.entregas.map(({ hostname }) => hostname).sort(), [
      'next-1.example',
      'next-2.example',
    ])
    for (const host of hosts) {
      assert.deepEqual(
        (await manifestOf(host)).map(({ versao }) => versao),
        [2],
      )
      assert.equal(await openWith(host.keys, (await fetchBlob(host, id)).bytes), 'two')
    }
    const entry = (await readEvents(hub, 'carga_updated')).find(
      ({ payload }) => payload['carga_id'] === id,
    )
    assert.deepEqual(entry?.payload, {
      actor: 'admin',
      carga_id: id,
      nome: 'next',
      versao: 2,
      sans: [],
      agentes: ['next-1.example', 'next-2.example'],
      sha256: createHash('sha256').update(bytesOf(sealed)).digest('hex'),
      bytes: bytesOf(sealed).length,
      escrow: [fingerprintOf(escrow.recipient)],
    })
  })

  test('[BLB-9] leaves out a revoked agent, which has its place again once it is enrolled again', async () => {
    const stays = await enrollSealed(hub, 'stays-on.example')
    const leaves = await enrollSealed(hub, 'leaves.example')
    const { carga_id: id } = await createSealedCargo(
      hub,
      'leaving',
      await sealForHosts([stays, leaves], 'one'),
    )
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: leaves.hostname })
    const { agentes } = await listRecipients({ carga: id })
    assert.deepEqual(
      agentes.map(({ hostname }) => hostname),
      ['stays-on.example'],
    )
    await updateSealedCargo(hub, id, await sealForHosts([stays], 'two'))
    const back = await enrollSealed(hub, 'leaves.example', { reenroll: true })
    assert.deepEqual(
      (await manifestOf(back)).map(({ versao }) => versao),
      [2],
    )
    await assert.rejects(openWith(back.keys, (await fetchBlob(back, id)).bytes))
    const both = await listRecipients({ carga: id })
    assert.deepEqual(
      new Set(both.agentes.map(({ recipient }) => recipient)),
      new Set([stays.recipient, back.recipient]),
    )
    await updateSealedCargo(hub, id, await sealForHosts([stays, back], 'three'))
    assert.equal(await openWith(back.keys, (await fetchBlob(back, id)).bytes), 'three')
  })
})

describe('what whoever seals asks first', () => {
  test('[BLB-11] the recipients of agents by name and role, or of a carga with its escrow', async () => {
    const host = await enrollSealed(hub, 'asked-1.example', { role: 'asked' })
    const silent = await enrollHost(hub, 'asked-2.example', { role: 'asked' })
    const listed = await listRecipients({ roles: ['asked'], agentes: [host.agentId] })
    assert.deepEqual(listed, {
      agentes: [
        {
          id: host.agentId,
          hostname: 'asked-1.example',
          role: 'asked',
          recipient: host.recipient,
        },
        { id: silent.agentId, hostname: 'asked-2.example', role: 'asked', recipient: null },
      ],
      escrow: [],
      content_bytes_max: 1_048_576,
    })
    const escrow = await createAgeKeys()
    const sealed = await sealForHosts([host], SECRET, [escrow.recipient])
    const { carga_id: carga } = await createSealedCargo(hub, 'asked', sealed)
    const ofCargo = await listRecipients({ carga })
    assert.deepEqual(
      ofCargo.agentes.map(({ hostname }) => hostname),
      ['asked-1.example'],
    )
    assert.deepEqual(ofCargo.escrow, [escrow.recipient])
    await assert.rejects(listRecipients({}), /no_recipient/)
    await assert.rejects(listRecipients({ agentes: ['nobody.example'] }), /agent_not_found/)
    await assert.rejects(listRecipients({ carga: UNKNOWN_ID }), /cargo_not_found/)
  })

  test('[BLB-11] the sealed file itself, until its carga is removed', async () => {
    const host = await enrollSealed(hub, 'reads.example')
    const sealed = await sealForHosts([host], SECRET)
    const { carga_id: carga } = await createSealedCargo(hub, 'read', sealed)
    const read = (): Promise<object> => hub.admin('POST', '/v1/admin/cargas/conteudo', { carga })
    assert.deepEqual(await read(), {
      carga_id: carga,
      versao: 1,
      sha256: createHash('sha256').update(bytesOf(sealed)).digest('hex'),
      conteudo: sealed.conteudo,
    })
    await hub.admin('POST', '/v1/admin/cargas/remove', { carga })
    await assert.rejects(read(), /cargo_not_found/)
    assertRefused(await fetchBlob(host, carga), 404, 'blob_not_found')
  })
})

test('[BLB-10] no content is in the log or in an entry, whatever became of it', async () => {
  await using own = await startHub({ RUST_LOG: 'debug' })
  const host = await enrollSealed(own, 'quiet.example')
  const sealed = await sealForHosts([host], SECRET)
  const { carga_id: id } = await createSealedCargo(own, 'quiet', sealed)
  await updateSealedCargo(own, id, await sealForHosts([host], SECRET))
  await assert.rejects(createSealedCargo(own, 'x', { ...sealed, conteudo: `${sealed.conteudo}=` }))
  await assert.rejects(createSealedCargo(own, '../x', sealed))
  assert.equal((await fetchBlob(host, id)).status, 200)
  const entries = (await readEvents(own)).map(({ payload_text: text }) => text).join('\n')
  const file = bytesOf(sealed).toString('latin1')
  for (const part of [SECRET, 'age-encryption.org', sealed.conteudo.slice(100, 140)]) {
    assert.equal(own.logText().includes(part), false, part)
    assert.equal(entries.includes(part), false, part)
  }
  assert.ok(file.startsWith('age-encryption.org'))
})
