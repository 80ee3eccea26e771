import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { insertAgent, newAgent, NOW } from '../../../../test/store/store-samples.ts'
import { makeAgeFile } from '../../../../test/support/made-age-file.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Recipient } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { describeContent, parseSealedFile, sealedAgents, type SealedFile } from './sealed-file.ts'

const ESCROW = `age1pq1${'q'.repeat(1952)}`
const OTHER_ESCROW = `age1pq1${'p'.repeat(1952)}`
const ONE = 'age1pq1one' as Recipient
const ONE_FINGERPRINT = 'SHA256:bh7dZLn8Mt2U2/YmVuZ3OpXMDCPbgdPyARsy3xo7kRA'
const OTHER_FINGERPRINT = 'SHA256:goyPCc0rpKuuIsc0ToTPNWH9qMBHLfhBRviaKtbloPo'

interface Sealed {
  readonly file?: Buffer
  readonly agents?: readonly string[]
  readonly escrow?: string[]
  readonly fingerprint?: string
}

function parse({
  file,
  agents = ['a'],
  escrow = [],
  fingerprint = ONE_FINGERPRINT,
}: Sealed): SealedFile {
  const bytes = file ?? makeAgeFile(agents.length + escrow.length, 10)
  const destinatarios = agents.map((agente) => ({ agente, fingerprint }))
  return parseSealedFile({ conteudo: bytes.toString('base64'), destinatarios, escrow }, 100)
}

describe('[BLB-7] a sealed file', () => {
  test('is taken as it came, when it is sealed to as many as are named', () => {
    const file = makeAgeFile(3, 100)
    const { content, recipients } = parse({ file, agents: ['a', 'b'], escrow: [ESCROW] })
    assert.deepEqual(Buffer.from(content.bytes), file)
    assert.deepEqual(content.escrow, [ESCROW])
    assert.deepEqual(
      recipients.map(({ agente }) => agente),
      ['a', 'b'],
    )
  })

  test('is refused for the first of what is wrong: its text, its header, its size, its escrow, its recipients', () => {
    const noBase64 = { conteudo: 'YQ', destinatarios: [], escrow: ['none'] }
    const prefix = 'the hub does not accept the sealed file: '
    assert.throws(() => parseSealedFile(noBase64, 100), {
      code: 'sealed_invalid',
      message: `${prefix}it is not base64`,
    })
    for (const [sealed, code, message] of [
      [
        { file: Buffer.from('x'), escrow: ['none'] },
        'sealed_invalid',
        `${prefix}it is not an age file`,
      ],
      [
        { file: makeAgeFile(9, 101), escrow: ['none'] },
        'content_too_large',
        'the file has 101 bytes, over the limit of 100',
      ],
      [
        { file: makeAgeFile(9, 10), escrow: [ESCROW, 'age1qqqqqqqqqqqqqqqqqqqqqqqqq'] },
        'escrow_invalid',
        'escrow age1qqqqqqqqqqqqqqqqqqqq is not an age1pq1… recipient',
      ],
      [
        { file: makeAgeFile(9, 10), escrow: [ESCROW, OTHER_ESCROW, ESCROW] },
        'escrow_invalid',
        'the request names an escrow recipient twice',
      ],
      [
        { file: makeAgeFile(1, 10), escrow: [ESCROW] },
        'sealed_invalid',
        `${prefix}it is sealed to 1 recipients, but the request names 2`,
      ],
      [
        { file: makeAgeFile(3, 10), escrow: [ESCROW] },
        'sealed_invalid',
        `${prefix}it is sealed to 3 recipients, but the request names 2`,
      ],
    ] as const) {
      assert.throws(() => parse({ ...sealed, escrow: [...sealed.escrow] }), { code, message })
    }
  })

  test('[BLB-10] is told of in the log by its digest, its size and its escrow, and by none of its bytes', () => {
    const { content } = parse({ escrow: [ESCROW] })
    const { sha256, bytes, ...rest } = describeContent(content)
    assert.match(String(sha256), /^[0-9a-f]{64}$/)
    assert.equal(bytes, content.bytes.length)
    assert.deepEqual(rest, { escrow: ['SHA256:T7/Wt1dVaacJYKJIBDTmUCBhiM+68uiRyY22h/721tw'] })
  })
})

describe('[BLB-8] the agents that a file is sealed for', () => {
  let store: Store & AsyncDisposable
  before(async () => {
    store = await openTemporaryStore()
  })
  after(() => store[Symbol.asyncDispose]())

  async function insert(hostname: string): Promise<Agent> {
    const agent = await insertAgent(store, hostname)
    await store.write((writer) => writer.setRecipient(agent.id, ONE))
    return agent
  }

  async function find(sealed: Sealed): Promise<string[][]> {
    const slices: string[][] = []
    for await (const agents of sealedAgents(store.reader, parse(sealed))) {
      slices.push(agents.map(({ hostname }) => hostname))
    }
    return slices
  }

  test('are found by id or name, in their order', async () => {
    const [one] = [await insert('web-1'), await insert('web-2')]
    assert.deepEqual(await find({ agents: ['web-2', one.id] }), [['web-2', 'web-1']])
  })

  test('are refused when one is unknown, revoked or named twice', async () => {
    const agent = await insert('web-3')
    const revoked = await insert('gone')
    await store.write((writer) => writer.updateAgent({ ...revoked, revokedAt: NOW }))
    for (const [agents, code] of [
      [['web-3', 'nobody'], 'agent_not_found'],
      [['gone'], 'agent_revoked'],
      [['web-3', agent.id], 'sealed_invalid'],
    ] as const) {
      await assert.rejects(find({ agents }), { code })
    }
  })

  test('are refused when they have another recipient by now, or none: all of them are named', async () => {
    await insertAgent(store, 'without')
    await insert('web-4')
    await assert.rejects(find({ agents: ['web-4', 'without'], fingerprint: OTHER_FINGERPRINT }), {
      code: 'recipient_changed',
      message: 'the file is not sealed to the present recipient of these agents: web-4, without',
    })
    await assert.rejects(find({ agents: ['web-4', 'without'] }), {
      message: 'the file is not sealed to the present recipient of these agents: without',
    })
  })

  test('[FLT-1] come in slices of 250', async () => {
    const agents = Array.from({ length: 251 }, (_, index) => newAgent(`many-${index}`))
    await store.write(async (writer) => {
      for (const agent of agents) {
        await writer.insertAgent(agent)
        await writer.setRecipient(agent.id, ONE)
      }
    })
    const slices = await find({ agents: agents.map(({ id }) => id) })
    assert.deepEqual(
      slices.map(({ length }) => length),
      [250, 1],
    )
  })
})
