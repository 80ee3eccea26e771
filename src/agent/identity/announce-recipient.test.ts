import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { manifestEntry } from '../../../test/support/agent-host.ts'
import { startEnrolledAgent } from '../../../test/support/enrolled-agent.ts'
import { deliverSealed } from '../../../test/support/sealed-delivery.ts'
import { pollOnce } from '../round/poll.ts'
import { ensureAgeKey } from './age-key.ts'

describe('telling the hub whom to seal for', () => {
  test('[SLD-1] [SLD-4] an agent without a key makes one, and tells it at the start and once a day', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    const state = await host.openAgent()
    await pollOnce(state)
    await pollOnce(state)
    const { recipient } = await ensureAgeKey(host.paths.ageKeyFile, host.clock)
    assert.deepEqual(hub.recipients, [recipient])
    host.clock.offsetMs += 86_400_000
    await pollOnce(state)
    await pollOnce(await host.openAgent())
    assert.deepEqual(hub.recipients, [recipient, recipient, recipient])
  })

  test('[SLD-4] a hub without the route is no problem, and is told again in an hour', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.knowsSealedFiles = false
    const state = await host.openAgent()
    for (const minutes of [0, 30, 31]) {
      host.clock.offsetMs += minutes * 60_000
      assert.deepEqual((await pollOnce(state)).problems, [])
    }
    assert.equal(hub.requestsTo('recipient').length, 2)
  })

  test('[SLD-4] what goes wrong is a problem of the round, holds nothing up, and is tried again', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.misbehave('recipient', { kind: 'cut-before' }, { kind: 'refuse', status: 500, code: 'x' })
    hub.entregas.push(manifestEntry())
    const state = await host.openAgent()
    const first = await pollOnce(state)
    assert.match(first.problems.join(), /no answer from/)
    assert.ok(first.nextRetryMs !== undefined)
    assert.ok(await host.readOut('site.crt'))
    host.clock.offsetMs += 6 * 60_000
    assert.deepEqual((await pollOnce(state)).problems, ['the hub answered 500 x'])
    host.clock.offsetMs += 6 * 60_000
    assert.deepEqual((await pollOnce(state)).problems, [])
    assert.equal(hub.recipients.length, 1)
  })

  test('[SLD-2] a damaged key is a problem of the round, and everything else goes on', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    await writeFile(host.paths.ageKeyFile, 'nonsense')
    hub.entregas.push(manifestEntry())
    const state = await host.openAgent()
    for (let round = 0; round < 3; round += 1) {
      const { problems } = await pollOnce(state)
      assert.deepEqual(problems, [
        `${host.paths.ageKeyFile} does not hold a post-quantum age identity`,
      ])
    }
    assert.ok(await host.readOut('site.crt'))
    assert.equal(await readFile(host.paths.ageKeyFile, 'utf8'), 'nonsense')
    assert.deepEqual(hub.recipients, [])
  })
})

test('[SLD-13] identity and status show the recipient, its fingerprint, and files that were delivered', async () => {
  await using agent = await startEnrolledAgent()
  const { host } = agent
  assert.match((await host.command('identity')).stdout, /^recipient: none: run makes one$/m)
  await deliverSealed(agent, 'secret')
  await pollOnce(await host.openAgent())
  const { recipient } = await ensureAgeKey(host.paths.ageKeyFile, host.clock)
  const identity = await host.command('identity')
  const shortly = `${recipient?.slice(0, 20)}… (1959 characters: --json prints it whole)`
  assert.ok(identity.stdout.includes(`\nrecipient: ${shortly}\nrecipient fingerprint: SHA256:`))
  const status = (await host.command('status')).stdout
  assert.match(status, /^recipient fingerprint: SHA256:[A-Za-z0-9+/]{43}$/m)
  assert.match(status, /^delivery site\.conf v1: done, file in place$/m)
  await rm(join(host.paths.outDir, '.files'), { recursive: true })
  assert.match(
    (await host.command('status')).stdout,
    /^delivery site\.conf v1: done, file \(missing\)$/m,
  )
})
