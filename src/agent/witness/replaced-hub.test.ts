import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { WitnessedLog } from '../../../test/fakes/witnessed-log.ts'
import { AvoidedAddresses } from '../hub/avoided-addresses.ts'
import { createHttpConnections } from '../hub/http-connections.ts'
import { sendToHub } from '../hub/request.ts'
import { checkLog } from './check-log.ts'
import type { LogWitness } from './log-witness.ts'
import { findReplacedHub } from './replaced-hub.ts'

const NOW = new Date('2026-11-25T22:00:00Z')

/** A witness that has followed the log into its second epoch, and what the hub that was replaced shows. */
async function afterPromotion(): Promise<{ witness: LogWitness; old: string; log: WitnessedLog }> {
  const log = new WitnessedLog().append(10)
  const met = await checkLog(undefined, log.checkpoint, log.hub, NOW)
  assert.ok(met.kind === 'good')
  const old = log.append(3).checkpoint
  log.beginEpoch(old).append(2)
  const followed = await checkLog(met.witness, log.checkpoint, log.hub, NOW)
  assert.ok(followed.kind === 'good')
  assert.equal(followed.epoch?.origin, 'cartorio/vault/2')
  return { witness: followed.witness, old, log }
}

describe('[STB-20] a hub that was replaced', () => {
  test('is known by an earlier epoch of the log, which the key of the log has signed', async () => {
    const { witness, old, log } = await afterPromotion()
    assert.equal(
      findReplacedHub(witness, old)?.message,
      'a hub that was replaced answered: it shows the log cartorio/vault, the agent has followed the log to cartorio/vault/2',
    )
    assert.equal(findReplacedHub(witness, log.checkpoint), undefined)
    assert.equal(findReplacedHub(witness, log.beginEpoch(log.checkpoint).checkpoint), undefined)
    assert.equal(findReplacedHub(undefined, old), undefined)
  })

  test('is none when another key has signed the earlier epoch: that is an alarm', async () => {
    const { witness, log, old } = await afterPromotion()
    const forged = old.replace(/\n(\d+)\n/, '\n9\n')
    assert.equal(findReplacedHub(witness, forged), undefined)
    const finding = await checkLog(witness, forged, log.replaceKey().hub, NOW)
    assert.equal(finding.kind, 'alarm')
  })

  for (const status of [200, 401]) {
    test(`says nothing that counts: not its ${status}, not its time; its address is left`, async () => {
      const { witness, old } = await afterPromotion()
      const header = Buffer.from(old).toString('base64')
      const server = createServer((_request, response) => {
        response.writeHead(status, { 'x-log-checkpoint': header }).end('"value"')
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const avoided = new AvoidedAddresses()
      const connections = createHttpConnections(() => createSecureContext(), undefined, avoided)
      const times: Date[] = []
      try {
        await assert.rejects(
          sendToHub({
            connections,
            url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`),
            method: 'GET',
            userAgent: 'svc-agent/0.0.0',
            noteHubTime: (time) => times.push(time),
            noteCheckpoint: (note) => {
              const replaced = note === undefined ? undefined : findReplacedHub(witness, note)
              if (replaced !== undefined) throw replaced
            },
            decode: (body) => body,
          }),
          { name: 'ReplacedHubError', code: 'hub_unreachable' },
        )
      } finally {
        await connections.destroy()
        server.close()
      }
      assert.deepEqual(times, [])
      const [here, other] = [
        { address: '127.0.0.1', family: 4 },
        { address: '127.0.0.2', family: 4 },
      ]
      assert.deepEqual(avoided.choose([here, other]), [other])
      assert.deepEqual(avoided.choose([here]), [here])
    })
  }
})
