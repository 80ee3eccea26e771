// deploy/agent/svc-agent-watch-update alone: what it makes of the files that it finds, whoever wrote them.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Ended, type RunningProgram, startProgram } from '../support/processes.ts'

const WATCH = fileURLToPath(new URL('../../deploy/agent/svc-agent-watch-update', import.meta.url))
const AT = 'at=2026-11-21T12:00:00.000Z'
const KEPT = ['svc-agent', 'svc-agent.old']
const TAKEN_BACK = ['svc-agent', 'svc-agent.failed']
const ROOT_ONLY = {
  concurrency: 8,
  skip: process.getuid?.() === 0 ? false : 'only root reads as another user',
}
const STRANGER = 65_534

// They mostly wait.
const AT_ONCE = { concurrency: 8 }

describe('[UPD-12] a new version is kept', AT_ONCE, () => {
  const table = [
    ['completed', 'network'],
    ['completed', 'completed'],
    ['completed', 'unknown'],
    ['network', 'network'],
    ['server_error', 'server_error'],
  ] as const
  for (const [outcome, before] of table) {
    test(`whose round is ${outcome}, after ${before}`, async () => {
      await using host = await UpdatedHost.create(before)
      const { status, stderr } = await host.watch({
        round: `version=0.1.1 outcome=${outcome} ${AT}`,
      })
      assert.equal(status, 0, stderr)
      assert.match(stderr, /version 0\.1\.1 has proved itself/)
      assert.deepEqual(await host.files(), KEPT)
      assert.equal(await host.read(''), 'new')
    })
  }
})

describe('[UPD-12] [UPD-13] a new version is taken back', AT_ONCE, () => {
  const table: [string, string, string | undefined][] = [
    ['that says nothing', 'completed', undefined],
    ['that has no network where the old one had', 'completed', 'version=0.1.1 outcome=network'],
    ['that gets a 5xx where the old one got none', 'network', 'version=0.1.1 outcome=server_error'],
    ['that is refused', 'other', 'version=0.1.1 outcome=other'],
    ['when only another version completed', 'completed', 'version=0.1.10 outcome=completed'],
    ['when the line is none', 'completed', 'version=0.1.1 outcome=completedly'],
  ]
  for (const [name, before, round] of table) {
    test(name, async () => {
      await using host = await UpdatedHost.create(before)
      const { status, stderr } = await host.watch(
        round === undefined ? {} : { round: `${round} ${AT}` },
      )
      assert.equal(status, 0, stderr)
      assert.match(stderr, /version 0\.1\.1 is taken back: no round of it within 3 s/)
      await host.assertTakenBack()
      assert.equal(await host.restarts(), 2)
    })
  }

  test('when the line is the one that was there before', async () => {
    await using host = await UpdatedHost.create('completed')
    const round = `version=0.1.1 outcome=completed ${AT}`
    await writeFile(host.lastRound, `${round}\n`)
    await host.watch({ round })
    await host.assertTakenBack()
  })

  test('whose process is another one a moment later', async () => {
    await using host = await UpdatedHost.create('completed')
    const { stderr } = await host.watch({ pidCommand: 'date +%s' })
    assert.match(stderr, /version 0\.1\.1 is taken back: its process ended/)
    await host.assertTakenBack()
  })

  test('that is not started', async () => {
    await using host = await UpdatedHost.create('completed')
    const { status, stderr } = await host.watch({ restartCommand: 'exit 1' })
    assert.equal(status, 0)
    assert.match(stderr, /version 0\.1\.1 is taken back: it cannot be started/)
    await host.assertTakenBack()
  })

  test('when it is one whose process never shows, whatever it writes', async () => {
    await using host = await UpdatedHost.create('completed')
    const round = `version=0.1.1 outcome=completed ${AT}`
    await host.watch({ round, pidCommand: 'echo 0' })
    await host.assertTakenBack()
  })
})

describe('[UPD-13] the watcher finds out where it was', AT_ONCE, () => {
  test('when there is no marker, it does nothing', async () => {
    await using host = await UpdatedHost.create('completed')
    await rm(`${host.binary}.update`)
    assert.equal((await host.watch({})).status, 0)
    assert.deepEqual(await host.files(), KEPT)
    assert.equal(await host.restarts(), 0)
  })

  test('when the marker is none, it changes nothing but that', async () => {
    await using host = await UpdatedHost.create('completed')
    await writeFile(`${host.binary}.update`, 'new=../0.1.1\n')
    assert.equal((await host.watch({})).status, 0)
    assert.deepEqual(await host.files(), KEPT)
    assert.equal(await host.restarts(), 0)
  })

  test('when the failed one cannot be kept, the old one is put back all the same', async () => {
    await using host = await UpdatedHost.create('completed')
    await mkdir(`${host.binary}.failed/svc-agent`, { recursive: true })
    const { status, stderr } = await host.watch({})
    assert.equal(status, 0, stderr)
    assert.match(stderr, /it cannot be kept as/)
    assert.equal(await host.read(''), 'old')
  })

  test('when the update was killed before it changed anything', async () => {
    await using host = await UpdatedHost.create('completed')
    await rm(`${host.binary}.old`)
    await link(host.binary, `${host.binary}.old`)
    await writeFile(`${host.binary}.new`, 'half')
    assert.equal((await host.watch({})).status, 0)
    assert.deepEqual(await host.files(), KEPT)
    assert.equal(await host.restarts(), 0)
  })

  test('when it was killed after the old one was back, and before the restart', async () => {
    await using host = await UpdatedHost.create('completed')
    await link(host.binary, `${host.binary}.failed`)
    execFileSync('mv', [`${host.binary}.old`, host.binary])
    assert.equal((await host.watch({})).status, 0)
    await host.assertTakenBack()
    assert.equal(await host.restarts(), 1)
  })

  test('when it was killed between the two names of the failed one', async () => {
    await using host = await UpdatedHost.create('completed')
    await link(host.binary, `${host.binary}.failed`)
    assert.equal((await host.watch({})).status, 0)
    await host.assertTakenBack()
  })

  test('killed before any of its steps and run again, it ends the same', async () => {
    const script = await readFile(WATCH, 'utf8')
    const steps = [
      ...script.matchAll(/(?<=^|\s)(?:ln -fT|mv -fT|rm -f|sync --|restart (?=\|\||&&))/g),
    ]
    assert.ok(steps.length >= 7, `${steps.length} steps`)
    let killed = 0
    await Promise.all(
      steps.map(async ({ index }) => {
        await using host = await UpdatedHost.create('completed')
        const dying = join(host.directory, 'dying')
        const text = `${script.slice(0, index)}kill -9 $$ && ${script.slice(index)}`
        await writeFile(dying, text, { mode: 0o755 })
        const { signal } = await host.start({}, dying).ended
        assert.match(await host.read(''), /^(?:old|new)$/)
        if (signal === 'SIGKILL') killed += 1
        assert.equal((await host.watch({})).status, 0)
        await host.assertTakenBack()
      }),
    )
    assert.ok(killed >= 6, `${killed} killed`)
  })
})

describe('[UPD-14] an agent that would mislead root', ROOT_ONLY, () => {
  const round = `version=0.1.1 outcome=completed ${AT}`

  test('is believed what it may say itself', async () => {
    await using host = await UpdatedHost.create('completed', STRANGER)
    await host.watch({ round })
    assert.deepEqual(await host.files(), KEPT)
  })

  test('cannot have a file read that only root may read', async () => {
    await using host = await UpdatedHost.create('completed', STRANGER)
    const secret = join(host.directory, 'secret')
    await writeFile(secret, `${round}\n`, { mode: 0o600 })
    await symlink(secret, host.lastRound)
    const { stderr } = await host.watch({})
    assert.match(stderr, /is taken back/)
    assert.ok(!stderr.includes('secret'), stderr)
  })

  test('cannot hold it up by a pipe, nor by a file without an end', async () => {
    for (const plant of [
      (path: string) => execFileSync('mkfifo', ['-m', '666', path]),
      (path: string) => symlink('/dev/zero', path),
    ]) {
      await using host = await UpdatedHost.create('completed', STRANGER)
      await plant(host.lastRound)
      const { status, stderr } = await host.watch({})
      assert.equal(status, 0)
      assert.match(stderr, /is taken back/)
    }
  })
})

interface Watching {
  /** What the restarted agent notes of its round. */
  readonly round?: string
  readonly restartCommand?: string
  readonly pidCommand?: string
}

/** As self-update leaves it. */
class UpdatedHost implements AsyncDisposable {
  readonly directory: string
  readonly binary: string
  readonly dataDir: string
  readonly lastRound: string

  private constructor(directory: string) {
    this.directory = directory
    this.binary = join(directory, 'bin/svc-agent')
    this.dataDir = join(directory, 'data')
    this.lastRound = join(directory, 'data/state/last-round')
  }

  static async create(outcome: string, owner = process.getuid?.() ?? 0): Promise<UpdatedHost> {
    const host = new UpdatedHost(await mkdtemp(join(tmpdir(), 'updated-')))
    await chmod(host.directory, 0o755)
    await mkdir(join(host.directory, 'bin'))
    await mkdir(join(host.dataDir, 'state'), { recursive: true })
    for (const path of [host.dataDir, join(host.dataDir, 'state')]) await chown(path, owner, owner)
    await writeFile(host.binary, 'new')
    await writeFile(`${host.binary}.old`, 'old')
    const marker = ['old=0.1.0', 'new=0.1.1', `outcome=${outcome}`, AT, '']
    await writeFile(`${host.binary}.update`, marker.join('\n'))
    return host
  }

  start(
    { round, restartCommand, pidCommand = 'echo 42' }: Watching,
    script: string = WATCH,
  ): RunningProgram {
    const note = round === undefined ? ':' : `echo '${round}' > ${this.lastRound}`
    return startProgram(script, [this.binary], {
      SVC_AGENT_DATA_DIR: this.dataDir,
      SVC_AGENT_RESTART_COMMAND: restartCommand ?? `echo >> ${this.directory}/restarts; ${note}`,
      SVC_AGENT_PID_COMMAND: pidCommand,
      SVC_AGENT_WATCH_SECONDS: '3',
    })
  }

  watch(watching: Watching): Promise<Ended> {
    return this.start(watching).ended
  }

  async restarts(): Promise<number> {
    const path = join(this.directory, 'restarts')
    return existsSync(path) ? (await readFile(path)).length : 0
  }

  async files(): Promise<string[]> {
    return (await readdir(join(this.directory, 'bin'))).sort()
  }

  read(suffix: string): Promise<string> {
    return readFile(`${this.binary}${suffix}`, 'utf8')
  }

  async assertTakenBack(): Promise<void> {
    assert.deepEqual(await this.files(), TAKEN_BACK)
    assert.equal(await this.read(''), 'old')
    assert.equal(await this.read('.failed'), 'new')
    assert.equal((await lstat(this.binary)).nlink, 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true })
  }
}
