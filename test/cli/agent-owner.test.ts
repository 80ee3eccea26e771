// Files that only root may read, named in the settings of an agent that root starts: docs/protocol.md AGT-4, AGT-45.

import assert from 'node:assert/strict'
import { chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../fakes/hub-server.ts'
import { AgentHost } from '../support/agent-host.ts'
import { type Ended, runProgram, startProgram, type Variables } from '../support/processes.ts'

/** Nobody, who has no files. */
const OWNER_ID = 65_534
const skip = process.geteuid?.() === 0 ? false : 'only root can become another'

interface Fixture extends AsyncDisposable {
  readonly hub: FakeHub
  readonly host: AgentHost
  /** Root's, in a directory that nobody else can enter. */
  readonly tokenFile: string
  readonly caFile: string
  readonly env: Variables
  readonly agent: (args: readonly string[], extra: Variables) => Promise<Ended>
}

async function setUp(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  hub.tokens.set('svct_token', { hostname: 'web-1', role: 'web' })
  await mkdir(host.dataDir, { mode: 0o755 })
  await chown(host.dataDir, OWNER_ID, OWNER_ID)
  const secrets = join(host.directory, 'secrets')
  await mkdir(secrets, { mode: 0o700 })
  const tokenFile = join(secrets, 'token')
  const caFile = join(secrets, 'ca.pem')
  await writeFile(tokenFile, 'svct_token\n', { mode: 0o600 })
  await writeFile(caFile, hub.ca.rootPem, { mode: 0o600 })
  const { SVC_ENROLL_TOKEN: _, ...env } = host.env
  return {
    hub,
    host,
    tokenFile,
    caFile,
    env,
    agent: (args, extra) => runProgram('svc-agent', args, { ...env, ...extra }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

describe('svc-agent that root starts', { skip }, () => {
  test('[AGT-45] reads token file and root certificate before it becomes the owner, who may not', async () => {
    await using fixture = await setUp()
    const { agent, hub, tokenFile, caFile } = fixture
    const files = { SVC_ENROLL_TOKEN_FILE: tokenFile, SVC_SERVER_CA_PATH: caFile }
    const enrolled = await agent(['enroll'], files)
    assert.equal(enrolled.status, 0, enrolled.stderr)
    const round = await agent(['run', '--once'], files)
    assert.equal(round.status, 0, round.stderr)
    assert.equal(hub.requestsTo('manifest').length, 1)
  })

  test('[AGV-18] takes the token from its standard input, which the owner could not open', async () => {
    await using fixture = await setUp()
    const { hub, caFile, env } = fixture
    const files = { SVC_ENROLL_TOKEN_FILE: '-', SVC_SERVER_CA_PATH: caFile }
    const enrol = (input: string): Promise<Ended> =>
      startProgram('svc-agent', ['enroll'], { ...env, ...files }, input).ended
    const hints = 'svc-agent: hint: see SVC_ENROLL_TOKEN_FILE\n'
    const refused = [
      ['\n', `svc-agent: error: read enrolment token from the standard input: empty\n${hints}`],
      [
        'x'.repeat(17_000),
        'svc-agent: error: the standard input has more than the 16384 bytes allowed\n',
      ],
    ] as const
    for (const [input, message] of refused) {
      const { status, stderr } = await enrol(input)
      assert.deepEqual({ status, stderr }, { status: 1, stderr: message })
    }
    assert.deepEqual(hub.requests, [])
    const { status, stderr } = await enrol('svct_token\n')
    assert.equal(status, 0, stderr)
  })

  test('[AGT-45] reads nothing with root’s rights that the owner may have put in its place', async () => {
    await using fixture = await setUp()
    const { agent, hub, host, tokenFile } = fixture
    const planted = join(host.dataDir, 'token')
    await symlink(tokenFile, planted)
    const { status, stderr } = await agent(['enroll'], { SVC_ENROLL_TOKEN_FILE: planted })
    assert.equal(status, 1)
    assert.equal(
      stderr,
      `svc-agent: error: read ${planted}: permission denied\nsvc-agent: hint: the agent reads it as user ${OWNER_ID}\n`,
    )
    assert.deepEqual(hub.requests, [])
  })
})
