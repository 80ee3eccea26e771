// `svc event list --follow` beside a real hub: by its socket, and with an admin token over the network.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { findFreePort } from '../support/free-port.ts'
import type { TestHub } from '../support/hub.ts'
import {
  pathOfProgram,
  type RunningProgram,
  startCommand,
  startProgram,
  waitUntil,
} from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { startTestHub } from '../support/test-hub.ts'

describe('svc event list --follow', () => {
  let ca: RunningCa
  let hub: TestHub
  let remote: Readonly<Record<string, string>>
  before(async () => {
    ca = await startDevCa()
    const port = await findFreePort()
    hub = await startTestHub({
      caEnvironment: ca.environment,
      // The same port after a restart.
      environment: { SVC_ADMIN_BIND: `127.0.0.1:${port}`, SVC_SERVER_SANS: 'localhost' },
    })
    const tokenFile = join(hub.directory, 'token')
    const { token } = await succeed<{ token: string }>('admin token create --name f --role viewer')
    await writeFile(tokenFile, token, { mode: 0o600 })
    remote = {
      SVC_HUB: `https://localhost:${port}`,
      SVC_HUB_CA: ca.rootPath,
      SVC_HUB_TOKEN_FILE: tokenFile,
    }
  })
  after(async () => {
    await hub?.[Symbol.asyncDispose]()
    await ca?.[Symbol.asyncDispose]()
  })

  const succeed = async <T>(command: string): Promise<T> => {
    const { status, stdout, stderr } = await hub.svc(...command.split(' '), '--json')
    assert.equal(status, 0, stderr)
    return JSON.parse(stdout) as T
  }
  let made = 0
  const makeToken = async (): Promise<void> => {
    made += 1
    await succeed(`token create --hostname web-${made} --role web`)
  }
  const follow = (variables: Readonly<Record<string, string>>, ...more: string[]) =>
    startProgram('svc', ['event', 'list', '--follow', '--json', '--limit', '1', ...more], variables)
  const seqsOf = ({ stdout }: RunningProgram): number[] =>
    stdout()
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { seq: number }).seq)
  const waitForCount = (svc: RunningProgram, count: number): Promise<number[]> =>
    waitUntil(`${count} entries`, () => {
      if (svc.hasEnded()) assert.fail(`svc ended: ${svc.stderr()}`)
      const seqs = seqsOf(svc)
      return seqs.length >= count ? seqs : undefined
    })
  const assertNothingMissed = (seqs: readonly number[]): void => {
    const [first = 0] = seqs
    assert.deepEqual(
      seqs,
      seqs.map((_, at) => first + at),
    )
  }

  for (const way of ['the admin socket', '--hub'] as const) {
    test(`[CLI-185] through ${way} goes on after a restart, misses nothing, doubles nothing, and ends when it is told to`, async () => {
      const svc = follow(way === '--hub' ? remote : hub.environment)
      await waitForCount(svc, 1)
      await makeToken()
      await waitForCount(svc, 2)
      await hub.stop()
      await waitUntil('a word of the hub', () => svc.stderr().includes('is away') || undefined)
      await hub.start()
      for (let count = 0; count < 3; count += 1) await makeToken()
      assertNothingMissed(await waitForCount(svc, 5))
      await waitUntil('a word of the hub', () => svc.stderr().includes('is back') || undefined)
      assert.match(
        svc.stderr(),
        /^svc: the hub is away, svc waits for it: [^\n]+\nsvc: the hub is back\n$/,
      )
      svc.kill('SIGINT')
      const { status, signal } = await svc.ended
      assert.deepEqual([status, signal], [0, null])
      assertNothingMissed(seqsOf(svc))
    })
  }

  test('[CLI-185] [CLI-13] lists what matches alone', async () => {
    const svc = follow(hub.environment, '--type', 'admin_token_created')
    // The one of before.
    await waitForCount(svc, 1)
    await makeToken()
    await succeed('admin token create --name other --role viewer')
    await makeToken()
    await waitForCount(svc, 2)
    svc.kill('SIGTERM')
    assert.equal((await svc.ended).status, 0)
    assert.equal(seqsOf(svc).length, 2)
    assert.match(svc.stdout(), /"tipo_evento":"admin_token_created"/)
  })

  test('[CLI-185] ends with what the hub says when its token is revoked', async () => {
    const svc = follow(remote)
    await waitForCount(svc, 1)
    const { admin_tokens: tokens } = await succeed<{ admin_tokens: { id: string }[] }>(
      'admin token list',
    )
    for (const { id } of tokens) await succeed(`admin token revoke ${id}`)
    const { status, stderr } = await svc.ended
    assert.equal(status, 1)
    assert.match(stderr, /^svc: error: the hub does not accept the token of \S+: it is unknown/)
  })

  test('[CLI-185] ends without a word when its reader has gone', async () => {
    const svc = startCommand(
      '/bin/sh',
      [
        '-c',
        `"${pathOfProgram('svc')}" event list --follow --json --limit 1 | head -n 2; echo "over"`,
      ],
      { ...hub.environment, PATH: process.env['PATH'] ?? '' },
    )
    await waitUntil('the end', async () => {
      if (svc.hasEnded()) return true
      await makeToken()
      return undefined
    })
    const { stdout, stderr } = await svc.ended
    assert.deepEqual([stdout.split('\n').slice(-2), stderr], [['over', ''], ''])
  })
})
