import assert from 'node:assert/strict'
import {
  cp,
  lstat,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeHub } from '../../../test/fakes/hub-server.ts'
import { AgentHost } from '../../../test/support/agent-host.ts'
import { pollOnce } from '../round/poll.ts'
import { rotateAndReport } from './session.ts'
import { adoptPlainIdentity } from './adopt-plain-identity.ts'
import { requireIdentity } from './identity.ts'
import { type FileOperations, nodeFileOperations } from '../files/file-operations.ts'

const NAMES = ['agent.crt', 'agent.key', 'ca.pem']

interface Fixture extends AsyncDisposable {
  readonly host: AgentHost
  readonly identityDir: string
}

/** The identity as `cp -L` restores it. */
async function setUp(): Promise<Fixture> {
  const stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll()
  const { identityDir } = host.paths
  for (const name of NAMES) {
    const path = join(identityDir, name)
    const text = await readFile(path)
    await rm(path)
    await writeFile(path, text, { mode: 0o644 })
  }
  await rm(join(identityDir, '.versions'), { recursive: true })
  return { host, identityDir, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

describe('an identity restored as plain files', () => {
  test('[AGT-40] becomes a version, with the modes that it should have, and can be renewed', async () => {
    await using fixture = await setUp()
    const { host, identityDir } = fixture
    const { leaf } = await requireIdentity(identityDir)
    const state = await host.openAgent()
    for (const name of NAMES) {
      assert.equal((await lstat(join(identityDir, name))).isSymbolicLink(), true, name)
    }
    assert.equal((await requireIdentity(identityDir)).leaf.serial, leaf.serial)
    assert.deepEqual(
      (await readdir(identityDir)).filter((name) => name.endsWith('.tmp')),
      [],
    )
    const rotation = await rotateAndReport(state.session)
    assert.equal(rotation.oldSerial, leaf.serial)
    assert.deepEqual((await pollOnce(state)).problems, [])
  })

  test('is adopted to the end when that was cut short', async () => {
    await using fixture = await setUp()
    const { host, identityDir } = fixture
    const copy = join(host.directory, 'copy')
    await cp(identityDir, copy, { recursive: true })
    assert.equal(await adoptPlainIdentity(identityDir), true)
    // As a crash before the last rename leaves it.
    await rm(join(identityDir, 'agent.crt'))
    await cp(join(copy, 'agent.crt'), join(identityDir, 'agent.crt'))
    assert.equal(await adoptPlainIdentity(identityDir), true)
    assert.equal(await adoptPlainIdentity(identityDir), false)
    assert.ok(await requireIdentity(identityDir))
  })

  test('is readable at every instant of the adoption, which a next one brings to its end', async () => {
    await using fixture = await setUp()
    const { host, identityDir } = fixture
    const { leaf } = await requireIdentity(identityDir)
    const copy = join(host.directory, 'copy')
    await cp(identityDir, copy, { recursive: true })
    let crashes = 0
    for (let isDone = false; !isDone;) {
      await rm(identityDir, { recursive: true })
      await cp(copy, identityDir, { recursive: true })
      const files = dyingAfter(crashes, async () => {
        assert.equal((await requireIdentity(identityDir)).leaf.serial, leaf.serial)
      })
      isDone = await adoptPlainIdentity(identityDir, files).catch((error: unknown) => {
        assert.ok(error instanceof Crash)
        return false
      })
      if (!isDone) crashes += 1
      await adoptPlainIdentity(identityDir)
      assert.equal((await requireIdentity(identityDir)).leaf.serial, leaf.serial)
      assert.deepEqual((await readdir(identityDir)).sort(), ['.versions', ...NAMES])
      assert.equal(await adoptPlainIdentity(identityDir), false)
    }
    assert.ok(crashes > 10, `${crashes} instants`)
  })

  test('[AGT-40] with a key of another certificate is left alone', async () => {
    await using fixture = await setUp()
    const { identityDir } = fixture
    await writeFile(join(identityDir, 'agent.key'), 'no key')
    await assert.rejects(adoptPlainIdentity(identityDir), /is damaged/)
    assert.equal(await readFile(join(identityDir, 'agent.key'), 'utf8'), 'no key')
    assert.equal((await lstat(join(identityDir, 'agent.crt'))).isFile(), true)
  })
})

class Crash extends Error {}

/** The process dies after so many operations that change something; `observe` looks in before each. */
function dyingAfter(countMax: number, observe: () => Promise<void>): FileOperations {
  const changing = ['makeDirectory', 'makeLink', 'writeNewFile', 'rename', 'syncDirectory']
  let count = 0
  const wrapped = Object.entries(nodeFileOperations).map(([name, operation]) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      if (changing.includes(name)) {
        await observe()
        if (count >= countMax) throw new Crash()
        count += 1
      }
      return (operation as (...rest: unknown[]) => Promise<unknown>)(...args)
    },
  ])
  return Object.fromEntries(wrapped) as FileOperations
}

test('[AGT-39] [AGT-40] plain files beside a link to elsewhere are not adopted, and that link stays', async () => {
  await using fixture = await setUp()
  const { host, identityDir } = fixture
  const elsewhere = join(host.directory, 'root.pem')
  await rename(join(identityDir, 'ca.pem'), elsewhere)
  await symlink(elsewhere, join(identityDir, 'ca.pem'))
  assert.equal(await adoptPlainIdentity(identityDir), false)
  assert.equal(await readlink(join(identityDir, 'ca.pem')), elsewhere)
  assert.equal((await lstat(join(identityDir, 'agent.key'))).isFile(), true)
  // It works as it is, and a renewal says what is in its way.
  const state = await host.openAgent()
  assert.deepEqual((await pollOnce(state)).problems, [])
  await assert.rejects(rotateAndReport(state.session), { code: 'foreign_file' })
})

for (const name of ['agent.key', 'ca.pem']) {
  test(`[AGT-39] a plain ${name} beside our links is named before the hub is asked for a renewal or a recovery`, async () => {
    await using stack = new AsyncDisposableStack()
    const hub = stack.use(await FakeHub.start())
    const host = stack.use(await AgentHost.create(hub))
    await host.enroll()
    const path = join(host.paths.identityDir, name)
    await rm(path)
    await writeFile(path, 'precious')
    const { session } = await host.openAgent()
    const error = { code: 'foreign_file', message: `${path} exists and was not made by the agent` }
    await assert.rejects(rotateAndReport(session), error)
    host.clock.offsetMs = 2 * 86_400_000
    hub.clockOffsetMs = host.clock.offsetMs
    await assert.rejects(rotateAndReport(session), error)
    assert.deepEqual([...hub.requestsTo('issue'), ...hub.requestsTo('recover')], [])
    assert.equal(await readFile(path, 'utf8'), 'precious')
  })
}

test('a plain key beside a linked certificate is somebody else’s and stays', async () => {
  await using stack = new AsyncDisposableStack()
  const hub = stack.use(await FakeHub.start())
  const host = stack.use(await AgentHost.create(hub))
  await host.enroll()
  const key = join(host.paths.identityDir, 'agent.key')
  await rm(key)
  await writeFile(key, 'precious')
  assert.equal(await adoptPlainIdentity(host.paths.identityDir), false)
  assert.equal(await readFile(key, 'utf8'), 'precious')
})
