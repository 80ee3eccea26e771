import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fingerprintOf, generateAgeIdentity, recipientOf } from '../../sealing/age-identity.ts'
import { openSealed } from '../../sealing/sealed-file.ts'
import { NO_PINS } from '../../sealing/recipients/recipient-pins.ts'
import { refuseOthers, sealForAgents, type SealRequest } from './seal-for-agents.ts'

const identities = await Promise.all([1, 2, 3].map(() => generateAgeIdentity()))
const recipients = await Promise.all(identities.map(recipientOf))
const [escrow = '', ...others] = recipients
const agentes = others.map((recipient, index) => ({
  id: `id-${index}`,
  hostname: `web-${index}`,
  role: 'web',
  recipient,
}))

function request(fields: Partial<SealRequest> = {}): SealRequest {
  return {
    wanted: { agentes, escrow: [escrow], content_bytes_max: 9 },
    known: NO_PINS,
    vouched: { fingerprints: new Set(), recipients },
    readContent: () => Promise.resolve(Buffer.from('secret')),
    progress: { show: () => undefined, clear: () => undefined },
    ...fields,
  }
}

describe('sealing for agents', () => {
  test('[SEA-1] makes one file for the agents and the escrow, and says for which recipients', async () => {
    const { selado } = await sealForAgents(request())
    assert.deepEqual(
      selado.destinatarios,
      agentes.map(({ id, recipient }) => ({ agente: id, fingerprint: fingerprintOf(recipient) })),
    )
    assert.deepEqual(selado.escrow, [escrow])
    for (const identity of identities) {
      const opened = await openSealed(identity, Buffer.from(selado.conteudo, 'base64'))
      assert.equal(opened.ok && Buffer.from(opened.content).toString(), 'secret')
    }
  })

  test('[SEA-4] reads nothing before it is settled for whom', async () => {
    const unread = request({
      vouched: { fingerprints: new Set(), recipients: [] },
      readContent: () => assert.fail('it was read'),
    })
    await assert.rejects(sealForAgents(unread), { code: 'recipient_new' })
  })

  const tooMuch: readonly (readonly [number, number, string])[] = [
    [1, 9 * 1024 * 1024, 'file_too_large'],
    [2700, 1, 'too_many_recipients'],
  ]
  for (const [count, bytes, code] of tooMuch) {
    test(`[SEA-8] ${bytes} bytes for ${count} are refused before anything is sealed`, async () => {
      const [agente] = agentes
      assert.ok(agente)
      const agents = Array.from({ length: count }, (_, index) => ({ ...agente, id: `id-${index}` }))
      const { hostname, recipient } = agente
      const fingerprint = fingerprintOf(recipient)
      const known = {
        ...NO_PINS,
        agents: new Map(agents.map(({ id }) => [id, { hostname, fingerprint }])),
      }
      const large = request({
        wanted: { agentes: agents, escrow: [], content_bytes_max: bytes },
        known,
        vouched: { fingerprints: new Set(), recipients: [] },
        readContent: () => Promise.resolve(new Uint8Array(bytes)),
        progress: { show: () => assert.fail('it was sealed'), clear: () => undefined },
      })
      await assert.rejects(sealForAgents(large), { code })
    })
  }

  test('tells how far it is, and takes that off the screen again', async () => {
    const shown: string[] = []
    const progress = { show: (line: string) => shown.push(line), clear: () => shown.push('') }
    await sealForAgents(request({ progress }))
    assert.deepEqual(shown, [
      'sealing for 1 of 3 recipients',
      'sealing for 2 of 3 recipients',
      'sealing for 3 of 3 recipients',
      '',
    ])
  })
})

describe('the agents that the hub names', () => {
  test('[SEA-3] are all that were asked for by name', () => {
    const asked = { agentes: ['web-0', 'web-2', 'id-1'], roles: ['web'] }
    assert.throws(() => refuseOthers(agentes, asked), {
      code: 'recipient_missing',
      message: 'the hub leaves out agent web-2, which this command names',
    })
  })

  const cases: readonly (readonly [string, string[], string[], string | undefined])[] = [
    ['by hostname', ['web-0', 'web-1'], [], undefined],
    ['by id', ['id-0', 'id-1'], [], undefined],
    ['by role', [], ['db', 'web'], undefined],
    ['by role and name', ['web-0'], ['web'], undefined],
    ['for one of them', ['web-0'], [], 'web-1'],
    ['for another role', ['web-0'], ['db'], 'web-1'],
  ]
  for (const [how, names, roles, unasked] of cases) {
    test(`[SEA-3] asked ${how}, are ${unasked === undefined ? 'those' : 'too many'}`, () => {
      const check = (): void => refuseOthers(agentes, { agentes: names, roles })
      if (unasked === undefined) check()
      else assert.throws(check, { code: 'recipient_unasked', message: new RegExp(unasked) })
    })
  }
})
