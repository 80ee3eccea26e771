// The age of its authors opens what Cartorio seals, and Cartorio what that age seals.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ensureAgeKey, readAgeKey } from '../../src/agent/identity/age-key.ts'
import { pollOnce } from '../../src/agent/round/poll.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Recipient } from '../../src/protocol/identifiers.ts'
import { readAgeHeader } from '../../src/sealing/age-header.ts'
import {
  generateAgeIdentity,
  parseIdentityFile,
  recipientOf,
} from '../../src/sealing/age-identity.ts'
import { openSealed, sealFor } from '../../src/sealing/sealed-file.ts'
import { startEnrolledAgent } from '../support/enrolled-agent.ts'
import { runBytes } from '../support/run-bytes.ts'
import { deliverSealed } from '../support/sealed-delivery.ts'
import { AGE, WITH_AGE } from './with-age.ts'

const HEADER_MAX = 4 * 1024 * 1024
const CHUNK = 64 * 1024

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'age-'))
})
after(() => rm(directory, { recursive: true }))

describe('an identity', WITH_AGE, () => {
  test('[SLD-1] is read by age-keygen, and read when age-keygen made it', async () => {
    const own = join(directory, 'age.key')
    const { recipient } = await ensureAgeKey(own, systemClock)
    assert.equal((await runBytes(AGE.ageKeygen, ['-y', own])).toString().trim(), recipient)
    const foreign = join(directory, 'foreign.key')
    await runBytes(AGE.ageKeygen, ['-pq', '-o', foreign])
    const told = (await runBytes(AGE.ageKeygen, ['-y', foreign])).toString()
    assert.equal((await readAgeKey(foreign))?.recipient, told.trim())
  })

  test('of the real age-keygen has the recipient that it says', async () => {
    const text = (await runBytes(AGE.ageKeygen, ['-pq'])).toString()
    const identity = parseIdentityFile(text) ?? assert.fail('it was not read')
    const [, told] = /public key: (\S+)/.exec(text) ?? []
    assert.equal(await recipientOf(identity), told)
  })
})

test('[SLD-1] [SLD-5] a sealed file goes both ways with the public age', WITH_AGE, async () => {
  await using agent = await startEnrolledAgent()
  const { hub, host } = agent
  const secret = randomBytes(100_000)
  const entry = await deliverSealed(agent, 'replaced below')
  const { recipient } = await ensureAgeKey(host.paths.ageKeyFile, host.clock)
  hub.blobs.set(entry.carga_id, await runBytes(AGE.age, ['-r', recipient], secret))
  await pollOnce(await host.openAgent())
  assert.deepEqual(await readFile(join(host.paths.outDir, 'site.conf')), secret)
  const sealed = await sealFor([recipient], secret)
  assert.deepEqual(await runBytes(AGE.age, ['-d', '-i', host.paths.ageKeyFile], sealed), secret)
})

describe('the header of an age file', WITH_AGE, () => {
  let identity: string
  let recipient: Recipient
  before(async () => {
    identity = await generateAgeIdentity()
    recipient = await recipientOf(identity)
  })

  test('[SEA-1] says how many a file that the real age made is for, and how much it holds', async () => {
    for (const bytes of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK]) {
      const content = Buffer.alloc(bytes, 'x')
      const file = await runBytes(AGE.age, ['-r', recipient, '-r', recipient], content)
      const expected = { ok: true, recipientCount: 2, contentBytes: bytes }
      assert.deepEqual(readAgeHeader(file, HEADER_MAX), expected)
      const opened = await openSealed(identity, file)
      assert.ok(opened.ok)
      assert.deepEqual(Buffer.from(opened.content), content)
    }
  })

  test('[SEA-1] is that of a file which the real age opens', async () => {
    const key = join(directory, 'key')
    await writeFile(key, `# a comment\n${identity}\n`, { mode: 0o600 })
    const content = Buffer.alloc(CHUNK + 5, 'y')
    const file = await sealFor([recipient], content)
    assert.deepEqual(await runBytes(AGE.age, ['-d', '-i', key], file), content)
  })

  test('is refused for any other kind of recipient, classic ones of the real age among them', async () => {
    const keys = await runBytes(AGE.ageKeygen, [])
    const classic = /age1[a-z0-9]+/.exec(keys.toString())?.[0] ?? assert.fail('no public key')
    const file = await runBytes(AGE.age, ['-r', classic], Buffer.from('secret'))
    assert.deepEqual(readAgeHeader(file, HEADER_MAX), {
      ok: false,
      reason: 'it is sealed to a recipient that is not post-quantum: X25519',
    })
    const armored = await runBytes(AGE.age, ['-a', '-r', recipient], Buffer.from('secret'))
    assert.deepEqual(readAgeHeader(armored, HEADER_MAX), {
      ok: false,
      reason: 'it is not an age file',
    })
  })
})
