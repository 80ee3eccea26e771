// Deliveries of tipo selado across crashes, full disks and lost records.

import assert from 'node:assert/strict'
import { readFile, unlink } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { startEnrolledAgent } from '../support/enrolled-agent.ts'
import { withFailingDisk } from '../support/failing-disk.ts'
import { deliveredEvents, deliverSealed } from '../support/sealed-delivery.ts'
import { exists } from '../../src/platform/files.ts'
import { pollOnce } from '../../src/agent/round/poll.ts'

describe('a crash or a full disk', () => {
  test('[SLD-6] [SLD-9] at any change: the file is whole, reported once, and its hook runs', async () => {
    for (let n = 1, isWhole = false; !isWhole; n += 1) {
      await using agent = await startEnrolledAgent()
      const { hub, host } = agent
      const first = await deliverSealed(agent, 'one')
      await pollOnce(await host.openAgent())
      hub.entregas = []
      const second = await deliverSealed(agent, 'two', { carga_id: first.carga_id, versao: 2 })
      const crashing = await host.openAgent()
      const changes = await withFailingDisk(
        (change) => change >= n,
        () => pollOnce(crashing).catch(() => undefined),
      )
      isWhole = changes < n
      assert.ok(['one', 'two'].includes(await host.readOut('site.conf')), `at change ${n}`)
      const state = await host.openAgent()
      host.clock.offsetMs += 10 * 60_000
      await pollOnce(state)
      assert.equal(await host.readOut('site.conf'), 'two', `at change ${n}`)
      const events = deliveredEvents(hub).filter(({ entrega_id: id }) => id === second.id)
      assert.equal(events.length, 1, `at change ${n}`)
      assert.ok(
        host.hooks.invocations.some(({ deliveryId }) => deliveryId === second.id),
        `at change ${n}`,
      )
      assert.equal(state.processed.list().at(-1)?.progress, 'done')
    }
  })

  test('[SLD-9] without its record a file that is in place is taken up, and reported under the same request_id', async () => {
    await using agent = await startEnrolledAgent()
    const { hub, host } = agent
    hub.settlesDeliveries = false
    await deliverSealed(agent, 'secret')
    await pollOnce(await host.openAgent())
    await unlink(host.paths.deliveredFilesFile)
    await pollOnce(await host.openAgent())
    assert.equal(hub.requestsTo('blob').length, 1)
    assert.equal(deliveredEvents(hub).length, 1)
  })

  test('[SLD-9] the records of files are no part of processed.json', async () => {
    await using agent = await startEnrolledAgent()
    const { host } = agent
    await deliverSealed(agent, 'secret')
    await pollOnce(await host.openAgent())
    assert.equal(await exists(host.paths.processedFile), false)
    assert.match(await readFile(host.paths.deliveredFilesFile, 'utf8'), /"kind": "selado"/)
  })
})
