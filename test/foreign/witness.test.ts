// A witness of the public network, litewitness, signs the log of a real hub by the commands of docs/operations.md:
// docs/protocol.md CHN-39, CLI-123, CLI-124.

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { TestHub } from '../support/hub.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import { createTestHub, startTestCa } from '../support/test-hub.ts'
import { startLitewitness, WITH_LITEWITNESS } from './with-litewitness.ts'

const NAME = 'witness.example/w1'

describe('[CHN-39] [CLI-123] [CLI-124] litewitness', WITH_LITEWITNESS, () => {
  const started = new AsyncDisposableStack()
  let hub: TestHub
  let outside: string
  let url: string
  let witnessKey: string
  before(async () => {
    const ca = started.use(await startTestCa())
    hub = started.use(await createTestHub({ caEnvironment: ca.environment }))
    outside = join(hub.directory, 'outside')
    await mkdir(outside)
    Object.assign(hub.environment, { SVC_CHECKPOINT_PATH: outside })
    await hub.start()
    await grow(1)
    const witness = started.use(await startLitewitness(hub.directory, NAME))
    ;[url, witnessKey] = [witness.url, witness.key]
    const key = (await hub.svc('checkpoint', '--key')).stdout.trim()
    witness.meet(key.split('+')[0] ?? '', key)
  })
  after(() => started.disposeAsync())

  const svc = async (...options: readonly string[]): Promise<string> => {
    const { stdout, stderr, status } = await hub.svc('checkpoint', ...options)
    assert.deepEqual([stderr, status], ['', 0])
    return stdout
  }
  const entriesOf = (note: string): number => Number(note.split('\n')[1])
  let hosts = 0
  /** Until the hub has signed so many entries more. */
  const grow = async (by: number): Promise<void> => {
    const before_ = entriesOf((await hub.svc('checkpoint')).stdout) || 0
    for (let more = 0; more < by; more += 1) {
      hosts += 1
      await hub.createToken({ hostname: `h${hosts}.example` })
    }
    await waitUntil(`${by} entries more`, async () =>
      entriesOf((await hub.svc('checkpoint')).stdout) >= before_ + by ? true : undefined,
    )
  }
  /** As docs/operations.md has it; how many entries were signed. */
  const cosign = async (old: number): Promise<number> => {
    const request = await svc('--add-checkpoint', String(old))
    await writeFile(join(hub.directory, 'request'), request)
    const script = `cd ${hub.directory}
      curl --silent --fail --data-binary @request ${url}/add-checkpoint >signature
      { sed '1,/^$/d' request; cat signature; } >cosigned.checkpoint`
    await runTool('sh', ['-euc', script])
    const path = join(hub.directory, 'cosigned.checkpoint')
    const kept = await svc('--cosigned', path, '--witness-key', witnessKey)
    const entries = entriesOf(request.slice(request.indexOf('\n\n') + 2))
    const expected = `^kept: a checkpoint of ${entries} entries\nsigned by ${NAME} at \\S+Z\n$`
    assert.match(kept, new RegExp(expected))
    return entries
  }

  test('signs what --add-checkpoint prints, and the log as it has grown since', async () => {
    let signed = await cosign(0)
    for (const by of [1, 2, 7]) {
      await grow(by)
      const more = await cosign(signed)
      assert.ok(more >= signed + by)
      signed = more
    }
    const cosigned = await svc('--cosigned')
    assert.match(cosigned, new RegExp(`\n\n— cartorio/\\S+ \\S+\n— ${NAME} \\S+\n$`))
    await waitUntil('the same outside the vault', async () => {
      const name = (await readdir(outside)).find((each) => each.endsWith('.cosigned'))
      const text = name && (await readFile(join(outside, name), 'utf8'))
      return text === cosigned ? true : undefined
    })
  })

  test('signs nothing for who names another number, which it corrects, and no other proof', async () => {
    const ask = async (body: string): Promise<readonly [number, string]> => {
      const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
      return [answer.status, await answer.text()]
    }
    const old = entriesOf(await svc('--cosigned'))
    const another = await svc('--add-checkpoint', String(old - 1))
    assert.deepEqual(await ask(another), [409, `${old}\n`])
    await grow(1)
    const request = await svc('--add-checkpoint', String(old))
    const [, hash = ''] = request.split('\n')
    const other = `${hash.startsWith('A') ? 'B' : 'A'}${hash.slice(1)}`
    const [status] = await ask(request.replace(hash, other))
    assert.equal(status, 422)
  })
})
