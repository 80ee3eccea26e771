import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin, type ToldAdmin } from '../../../../test/support/told-admin.ts'
import type { Agent } from '../../../hub/domain/agent.ts'
import type { Store } from '../../../hub/store/store.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { generateAgeIdentity, fingerprintOf, recipientOf } from '../../../sealing/age-identity.ts'
import { openSealed } from '../../../sealing/sealed-file.ts'
import { addPins, NO_PINS, type RecipientPins } from '../../../sealing/recipients/recipient-pins.ts'
import { Output } from '../../terminal/output.ts'
import type { CommandContext } from '../command-context.ts'
import { runCommandLine } from '../program.ts'

let store: Store & AsyncDisposable
let hub: ToldAdmin
let pins: RecipientPins
let written: string
let notes: string[]
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(() => {
  count += 1
  hub = openAdmin(store)
  pins = NO_PINS
  written = ''
  notes = []
})

interface SealedHost extends Agent {
  readonly identity: string
  readonly fingerprint: string
}

/** Of the selector `group=…` of this test, which this machine vouches for when it is pinned. */
async function addHost(name: string, isPinned: boolean): Promise<SealedHost> {
  const agent = await insertAgent(store, `${name}-${count}`)
  const identity = await generateAgeIdentity()
  const recipient = await recipientOf(identity)
  const fingerprint = fingerprintOf(recipient)
  await store.write((writer) => writer.setRecipient(agent.id, recipient))
  await hub.admin.labelAgents({ agente: agent.hostname, set: { group: `g${count}` } })
  if (isPinned) pin(agent, fingerprint)
  return { ...agent, identity, fingerprint }
}

function pin({ id, hostname }: Agent, fingerprint: string): void {
  pins = addPins(pins, { ...NO_PINS, agents: new Map([[id, { hostname, fingerprint }]]) })
}

class Done extends Error {}

/** Runs `svc` with this, and before each further look the next of the steps; the last look is after the last step. */
async function svc(
  line: string,
  steps: readonly (() => Promise<void>)[] = [],
  operations: AdminOperations = hub.admin,
): Promise<void> {
  const left = [...steps]
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      written += String(chunk)
      done()
    },
  })
  const session = {
    operations,
    isThroughHub: true,
    openBackup: notAsked,
    close: async () => undefined,
  }
  const context: Partial<CommandContext> = {
    output: new Output(stdout),
    clock: {
      now: () => new Date(),
      sleep: async () => {
        const step = left.shift()
        if (step === undefined) throw new Done()
        await step()
      },
    },
    progress: { show: () => undefined, clear: () => undefined },
    useOptions: () => undefined,
    note: (text) => void notes.push(text),
    openSecret: async (name) => ({
      name,
      size: undefined,
      mode: undefined,
      read: async () => Buffer.from(name === 'f' ? 'hello' : name),
      stream: () => assert.fail('it is read at once'),
      close: async () => undefined,
    }),
    openPins: async () => ({
      known: pins,
      path: 'pins',
      add: async (more) => void (pins = addPins(pins, more)),
      close: () => undefined,
    }),
    withAdmin: (work) => work(session),
  }
  await runCommandLine(line.split(' '), context as CommandContext).catch((error: unknown) => {
    if (!(error instanceof Done)) throw error
  })
}

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked for'))

async function contentFor({ identity }: SealedHost, carga: string): Promise<unknown> {
  const { conteudo } = await hub.admin.readContent({ carga })
  const opened = await openSealed(identity, Buffer.from(conteudo, 'base64'))
  return opened.ok ? Buffer.from(opened.content).toString() : opened.reason
}

const create = (): Promise<void> =>
  svc(`carga create --tipo selado --nome secret-${count} --where group=g${count} --file f`)
const watch = (
  steps: readonly (() => Promise<void>)[],
  options = '',
  operations?: AdminOperations,
) => svc(`carga reseal secret-${count} --watch --file f${options}`, steps, operations)

describe('[SEA-14] svc carga create --tipo selado --where', () => {
  test('seals for those that match and have a recipient, and names the others', async () => {
    const first = await addHost('first', true)
    const silent = await insertAgent(store, `silent-${count}`)
    await hub.admin.labelAgents({ agente: silent.hostname, set: { group: `g${count}` } })
    await create()
    assert.match(written, /created, sealed for 1 agent\n/)
    assert.deepEqual(notes, [
      `agent ${silent.hostname} waits: it has told the hub no recipient to seal for`,
    ])
    assert.equal(await contentFor(first, `secret-${count}`), 'hello')
  })

  test('refuses when nobody can read it, and for a recipient that nobody vouches for', async () => {
    await assert.rejects(create(), { code: 'no_recipient' })
    await addHost('first', false)
    await assert.rejects(create(), { code: 'recipient_new' })
  })
})

describe('[SEA-16] svc carga reseal --watch', () => {
  test('seals for each host that comes, if this machine knows its recipient', async () => {
    const first = await addHost('first', true)
    await create()
    let later = first
    let strange = first
    await watch([
      async () => undefined,
      async () => void (later = await addHost('later', true)),
      async () => void (strange = await addHost('strange', false)),
      async () => undefined,
      async () => pin(strange, strange.fingerprint),
    ])
    const name = `secret-${count}`
    for (const host of [first, later, strange]) assert.equal(await contentFor(host, name), 'hello')
    assert.deepEqual(
      written.split('\n').flatMap((line) => /is now version (.*)/.exec(line)?.slice(1) ?? []),
      [
        `2, sealed for 2 agents, for the first time for ${later.hostname}`,
        `3, sealed for 3 agents, for the first time for ${strange.hostname}`,
      ],
    )
    // Once, though two looks found it.
    assert.equal(notes.length, 1)
    assert.match(notes[0] ?? '', new RegExp(`^agent ${strange.hostname} waits: its recipient`))
  })

  test('takes the word of an option for a host that is yet to come', async () => {
    await addHost('first', true)
    await create()
    const identity = await generateAgeIdentity()
    const recipient = await recipientOf(identity)
    const agent = await insertAgent(store, `word-${count}`)
    await store.write((writer) => writer.setRecipient(agent.id, recipient))
    const joins = async (): Promise<void> => {
      await hub.admin.labelAgents({ agente: agent.hostname, set: { group: `g${count}` } })
    }
    await watch([joins], ` --accept-recipient ${fingerprintOf(recipient)}`)
    assert.match(written, new RegExp(`for the first time for ${agent.hostname}\n`))
  })

  test('undoes no versao that somebody else made since, and says so once', async () => {
    const first = await addHost('first', true)
    await create()
    const name = `secret-${count}`
    let later = first
    const change = () => svc(`carga update ${name} --file changed`)
    await watch([
      async () => void (await addHost('early', true)),
      async () => void (await addHost('second', true)),
      async () => {
        await change()
        later = await addHost('later', true)
      },
      async () => undefined,
    ])
    assert.equal(await contentFor(first, name), 'changed')
    const line =
      /^not sealed: load [0-9a-f-]{36} has version 4 now; start svc again with the content that it has now; svc tries again$/
    assert.match(notes[0] ?? '', line)
    assert.equal(notes.length, 1)
    await change()
    assert.equal(await contentFor(later, name), 'changed')
  })

  test('tells a failure once, and goes on; the first look has to succeed', async () => {
    await addHost('first', true)
    await create()
    let isDown = false
    const operations: AdminOperations = {
      ...hub.admin,
      listRecipients: (request) =>
        isDown
          ? Promise.reject(new UserError('hub_unreachable', 'the hub does not answer'))
          : hub.admin.listRecipients(request),
    }
    const turn = (to: boolean) => async () => void (isDown = to)
    await watch([turn(true), turn(true), turn(false), turn(true)], '', operations)
    const line = 'not sealed: the hub does not answer; svc tries again'
    assert.deepEqual(notes, [line, line])
    await assert.rejects(watch([], '', operations), { code: 'hub_unreachable' })
  })

  test('is no rehearsal', async () => {
    await addHost('first', true)
    await create()
    await assert.rejects(watch([], ' --dry-run'), { code: 'usage' })
  })
})

describe('[SEA-15] svc carga reseal', () => {
  test('seals for those that wait too, and wants a word for them', async () => {
    await addHost('first', true)
    await create()
    const later = await addHost('later', false)
    const line = `carga reseal secret-${count} --file f`
    await assert.rejects(svc(line), { code: 'recipient_new' })
    await svc(`${line} --accept-recipient ${later.fingerprint}`)
    assert.equal(await contentFor(later, `secret-${count}`), 'hello')
  })
})
