import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Recipient } from '../protocol/identifiers.ts'
import { generateAgeIdentity, recipientOf } from './age-identity.ts'
import { sealedSize } from './recipients/sealed-size.ts'
import { openSealed, sealFor } from './sealed-file.ts'

describe('a sealed file', () => {
  test('[SEA-1] is opened by each of its identities, and by no other', async () => {
    const identities = await Promise.all([1, 2, 3].map(() => generateAgeIdentity()))
    const recipients = await Promise.all(identities.map(recipientOf))
    const secret = Buffer.from('the password')
    const file = await sealFor(recipients.slice(0, 2), secret)
    assert.equal(Buffer.from(file).includes(secret), false)
    const opened = await Promise.all(identities.map((identity) => openSealed(identity, file)))
    assert.deepEqual(
      opened.map((result) => (result.ok ? Buffer.from(result.content) : result.reason)),
      [secret, secret, "no identity matched any of the file's recipients"],
    )
  })

  test('that is damaged or cut short is a reason, not an exception', async () => {
    const identity = await generateAgeIdentity()
    const file = Buffer.from(await sealFor([await recipientOf(identity)], Buffer.alloc(100_000)))
    for (const at of [0, 30, 1600, file.length - 1]) {
      const damaged = Buffer.from(file)
      damaged[at] = (damaged[at] ?? 0) ^ 1
      assert.equal((await openSealed(identity, damaged)).ok, false, `byte ${at}`)
    }
    for (const length of [0, 21, 1000, file.length - 1, file.length - 70_000]) {
      assert.equal((await openSealed(identity, file.subarray(0, length))).ok, false, `${length}`)
    }
  })

  test('[SLD-14] is opened with pauses, however many it is for', async () => {
    const identity = await generateAgeIdentity()
    const stranger = await recipientOf(await generateAgeIdentity())
    const file = await sealFor(
      Array.from({ length: 20 }, () => stranger),
      Buffer.from('x'),
    )
    let turns = 0
    const counting = setInterval(() => (turns += 1), 0)
    try {
      assert.equal((await openSealed(identity, file)).ok, false)
    } finally {
      clearInterval(counting)
    }
    assert.ok(turns >= 10, `${turns} turns`)
  })

  test('[SLD-14] with a longer header than a hub takes is not looked at', async () => {
    const identity = await generateAgeIdentity()
    const file = Buffer.from(await sealFor([await recipientOf(identity)], Buffer.from('x')))
    const first = file.indexOf('\n') + 1
    const stanza = file.subarray(first, file.indexOf('\n--- ') + 1)
    const stanzas = Array.from({ length: 2700 }, () => stanza)
    const long = Buffer.concat([file.subarray(0, first), ...stanzas, file.subarray(first)])
    assert.deepEqual(await openSealed(identity, long), {
      ok: false,
      reason: 'its header has no end',
    })
  })

  for (const [recipients, bytes] of [
    [1, 0],
    [1, 65_536],
    [3, 65_537],
    [2, 200_000],
  ] as const) {
    test(`[SEA-8] for ${recipients} of ${bytes} bytes is as large as was said before`, async () => {
      const recipient = await recipientOf(await generateAgeIdentity())
      const file = await sealFor(
        Array.from({ length: recipients }, () => recipient),
        new Uint8Array(bytes),
      )
      assert.equal(file.length, sealedSize(recipients, bytes).fileBytes)
      const header = Buffer.from(file).indexOf('\n--- ') + 49
      assert.equal(header, sealedSize(recipients, bytes).headerBytes)
    })
  }

  test('says how many recipients are done while it is made', async () => {
    const recipient = await recipientOf(await generateAgeIdentity())
    const counts: number[] = []
    await sealFor([recipient, recipient, recipient], Buffer.from('x'), (count) => {
      counts.push(count)
    })
    assert.deepEqual(counts, [1, 2, 3])
  })

  test('is not made for a recipient with a wrong letter', async () => {
    const recipient = await recipientOf(await generateAgeIdentity())
    const wrong = `${recipient.slice(0, -1)}${recipient.endsWith('q') ? 'p' : 'q'}` as Recipient
    await assert.rejects(sealFor([wrong], Buffer.from('x')), {
      name: 'UserError',
      code: 'recipient_invalid',
    })
  })
})
