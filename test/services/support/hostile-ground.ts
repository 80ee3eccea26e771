// A host whose agent's user is hostile: it owns the data directory and has a shell. Around it lies what is root's, with
// canaries that must appear nowhere and change nowhere.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storePair } from '../../../src/agent/delivery/installed-pair.ts'
import { storeIdentity } from '../../../src/agent/identity/identity.ts'
import type { PairMaterial } from '../../../src/agent/targets/render-content.ts'
import type { ArtefactName } from '../../../src/protocol/identifiers.ts'
import { createPairMaterial } from '../../support/pair-material.ts'
import { type Ended, pathOfProgram, startProgram, type Variables } from '../../support/processes.ts'
import { pathOfTool } from '../../support/tools.ts'

/** Nobody’s: no account has these numbers. */
export const SVC = 65_532
export const VICTIM = 65_531
/** However busy the machine is. */
const ROOT_MS = 60_000
const NO_GROUP = 65_534
const ROOTS_OWN = '/var/lib'
const BYTES_MAX = 4 * 1024 * 1024
/** What a try leaves running ends by itself too, should the test be killed. */
const ATTACK_SECONDS = 110

export interface Materials {
  readonly own: PairMaterial
  readonly foreign: PairMaterial
}

export async function createMaterials(): Promise<Materials> {
  return { own: await createPairMaterial(), foreign: await createPairMaterial() }
}

/** Where the data directory is: in a directory of root's, as packages have it, or of the user's. */
export type Home = 'roots' | 'users'

export class Ground implements AsyncDisposable {
  readonly base: string
  readonly dataDir: string
  readonly materials: Materials
  readonly word = `CANARY${randomBytes(12).toString('hex')}`
  readonly #attackers: ChildProcess[] = []
  readonly #outputs: string[] = []
  #before = ''

  private constructor(base: string, home: Home, materials: Materials) {
    this.base = base
    this.dataDir = join(base, home === 'roots' ? 'data' : 'home/data')
    this.materials = materials
  }

  static async create(materials: Materials, home: Home = 'roots'): Promise<Ground> {
    const base = await mkdtemp(join(ROOTS_OWN, 'cartorio-hostile-test-'))
    const ground = new Ground(base, home, materials)
    await ground.#prepare()
    ground.#before = ground.#picture()
    return ground
  }

  path(name: string): string {
    return join(this.base, name)
  }

  /** What root is started with. */
  get variables(): Variables {
    return {
      SVC_AGENT_DATA_DIR: this.dataDir,
      SVC_AGENT_TARGETS_DIR: this.path('targets.d'),
      CANARY: `env-${this.word}`,
    }
  }

  /** A command of root's, which may take as long as it likes, but ends. */
  async root(args: readonly string[], extra: Variables = {}): Promise<Ended> {
    return this.rootRuns(pathOfProgram('svc-agent'), args, extra)
  }

  async rootRuns(program: string, args: readonly string[], extra: Variables = {}): Promise<Ended> {
    const running = startProgram(program, args, { ...this.variables, ...extra })
    const killer = setTimeout(() => running.kill('SIGKILL'), ROOT_MS)
    const ended = await running.ended
    clearTimeout(killer)
    this.#outputs.push(ended.stdout, ended.stderr)
    assert.notEqual(ended.signal, 'SIGKILL', `root was held up:\n${ended.stdout}${ended.stderr}`)
    return ended
  }

  /** `targets apply`, and what became of the deliveries. */
  async apply(extra: Variables = {}): Promise<Readonly<Record<string, string>>> {
    const { stdout, stderr } = await this.root(['targets', 'apply', '--now', '--json'], extra)
    if (!stdout.startsWith('{')) return { refused: stderr }
    const { targets } = JSON.parse(stdout) as { targets: { nome: string; result: string }[] }
    return Object.fromEntries(targets.map(({ nome, result }) => [nome, result]))
  }

  /** A shell script of the user's, to its end. Its words: D, S, L, B, V; see #words. */
  plant(script: string): void {
    try {
      execFileSync(pathOfTool('setpriv'), [...AS_SVC, '/bin/sh', '-c', script], {
        ...this.#options(),
        stdio: 'ignore',
        timeout: 20_000,
      })
    } catch {
      // It may well be that the kernel does not let it; root is tried all the same.
    }
  }

  /** A Perl script of the user's that goes on until the try is over; resolves when it says that it is ready. */
  async attack(script: string): Promise<void> {
    const text = `use strict; alarm ${ATTACK_SECONDS}; $| = 1; ${PERL_WORDS} ${script}`
    const child = spawn(pathOfTool('setpriv'), [...AS_SVC, pathOfTool('perl'), '-e', text], {
      ...this.#options(),
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own: an attack may fork, and all of it ends with the try.
      detached: true,
    })
    this.#attackers.push(child)
    await new Promise((resolve) => {
      child.stdout.once('data', resolve)
      child.once('exit', resolve)
    })
  }

  async writeTarget(name: string, toml: string): Promise<void> {
    await writeFile(this.path(`targets.d/${name}.toml`), toml)
    this.#before = this.#picture()
  }

  /** Root's own preparation of a try, which is not what is to be found out. */
  async prepare(work: () => Promise<unknown>): Promise<void> {
    await work()
    this.#before = this.#picture()
  }

  /** What the user’s programs noted of themselves: `uid gid groups` a line. */
  notes(): string[] {
    return readdirSync(this.path('loot'))
      .filter((name) => name.startsWith('who-'))
      .flatMap((name) =>
        readFileSync(this.path(`loot/${name}`), 'utf8')
          .trim()
          .split('\n'),
      )
  }

  assertUnharmed(): void {
    this.#endAttacks()
    assert.equal(this.#picture(), this.#before, 'what is root’s was changed')
    for (const line of this.notes()) {
      const [uid, ...groups] = line.trim().split(' ').map(Number)
      assert.equal(uid, SVC, 'a program of the user’s ran with other rights')
      for (const group of groups) assert.ok([SVC, NO_GROUP].includes(group), `group ${group}`)
    }
    this.#assertNothingSaid()
    this.#assertNothingMade()
    this.#assertPlaces()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#endAttacks()
    await rm(this.base, { recursive: true, force: true })
  }

  #endAttacks(): void {
    for (const { pid } of this.#attackers.splice(0)) {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
  }

  #options() {
    return { env: this.#words(), cwd: this.base }
  }

  /** Data directory, secrets, loot, base, the version of the pair; its numbers and a program that tells of itself. */
  #words(): Record<string, string> {
    return {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      D: this.dataDir,
      S: this.path('secrets'),
      L: this.path('loot'),
      B: this.base,
      V: join(this.dataDir, 'out/.versions/site/000001'),
      P: this.path('loot/payload'),
    }
  }

  async #prepare(): Promise<void> {
    const { own, foreign } = this.materials
    await chmod(this.base, 0o755)
    for (const name of ['targets.d', 'tls', 'secrets', 'loot']) await mkdir(this.path(name))
    await chmod(this.path('loot'), 0o1777)
    await mkdir(this.dataDir, { recursive: true })
    for (const part of ['identity', 'out']) await mkdir(join(this.dataDir, part))
    await storeIdentityOf(join(this.dataDir, 'identity'), own)
    for (const name of ['site', 'other']) await storePairOf(join(this.dataDir, 'out'), name, own)
    const owned = this.dataDir.startsWith(this.path('home')) ? this.path('home') : this.dataDir
    execFileSync('chown', ['-R', `${SVC}:${SVC}`, owned])
    await this.#hideSecrets(foreign)
    await writeFile(this.path('targets.d/a-site.toml'), targetOf(this.path('tls'), 'site'))
    await writeFile(this.path('targets.d/b-other.toml'), targetOf(this.path('tls'), 'other'))
    const payload = `#!/bin/sh
{ echo "$(id -u) $(id -g) $(id -G)"; } >>${this.path('loot')}/who-$$
cat ${this.path('secrets')}/* <&- >${this.path('loot')}/read-$$ 2>/dev/null
cat <&5 >${this.path('loot')}/five-$$ 2>/dev/null
env >${this.path('loot')}/env-$$
exit 0
`
    await writeFile(this.path('loot/payload'), payload)
    await chmod(this.path('loot/payload'), 0o755)
    await chown(this.path('loot/payload'), SVC, SVC)
  }

  /** A directory that anyone may enter, with files that nobody may read; as a data directory has them. */
  async #hideSecrets({ leafPem, chainPems, keyPem, caPem }: PairMaterial): Promise<void> {
    const files: [name: string, content: string, uid: number, mode: number][] = [
      ['secret', `${this.word}\n`, 0, 0o600],
      ['agent.crt', `${this.word}\n`, 0, 0o600],
      ['group-secret', `${this.word}\n`, 0, 0o640],
      ['victims-secret', `${this.word}\n`, VICTIM, 0o600],
      ['last-round', `version=0.1.1 outcome=completed at=${this.word}1234567890\n`, 0, 0o600],
      ['cert.pem', `${leafPem}${chainPems.join('')}`, 0, 0o600],
      ['key.pem', keyPem, 0, 0o600],
      ['ca.pem', caPem, 0, 0o600],
      ['delivery.json', recordText, 0, 0o600],
    ]
    for (const [name, content, uid, mode] of files) {
      const path = this.path(`secrets/${name}`)
      await writeFile(path, content)
      await chown(path, uid, uid)
      await chmod(path, mode)
    }
  }

  /** Everything around the user's own places, and the places that root's targets name. */
  #picture(): string {
    return this.#walk('')
      .filter(({ path }) => !/^(?:home|data|loot|tls|data-targets|bin)(?:\/|$)/.test(path))
      .map(({ path, full }) => {
        const { uid, gid, mode, nlink, ino } = lstatSync(full)
        const kind = [path, ino, uid, gid, mode.toString(8), nlink].join(' ')
        return `${kind} ${contentOf(full)}`
      })
      .join('\n')
  }

  #assertNothingSaid(): void {
    const secrets = [this.word, ...marksOf(this.materials.foreign)]
    const seen = this.#walk('').filter(({ path }) => /^(?:home|data|loot|tls)\//.test(path))
    const texts: [string, string][] = [
      ...this.#outputs.map((text): [string, string] => ['an output of root’s', text]),
      ...seen.map(({ path, full }): [string, string] => [path, textOf(full)]),
    ]
    for (const [where, text] of texts) {
      for (const secret of secrets) assert.ok(!text.includes(secret), `a secret is in ${where}`)
    }
  }

  /** Nothing of root's, and nothing that gives anybody rights, lies where the user can reach it. */
  #assertNothingMade(): void {
    for (const { path, full } of this.#walk('')) {
      if (!/^(?:home|data|loot)\//.test(path)) continue
      const { uid, mode } = lstatSync(full)
      assert.notEqual(uid, 0, `${path} is root’s`)
      assert.equal(mode & 0o6000 & ~(lstatSync(full).isDirectory() ? 0o2000 : 0), 0, path)
    }
  }

  #assertPlaces(): void {
    for (const { path, full } of this.#walk('tls')) {
      const { uid, mode, nlink } = lstatSync(full)
      assert.match(path, /^tls\/(?:site|other)\.pem$/)
      assert.deepEqual([uid, mode & 0o7777, nlink], [0, 0o600, 1], path)
      // Nothing but blocks of PEM.
      assert.match(
        readFileSync(full, 'utf8'),
        /^(?:-----BEGIN [A-Z ]+-----\n[\w+/=\n]+-----END [A-Z ]+-----\n)+$/,
      )
    }
    const state = lstatSync(`${this.dataDir}-targets`, { throwIfNoEntry: false })
    if (state !== undefined) assert.deepEqual([state.uid, state.mode & 0o777], [0, 0o700])
  }

  #walk(directory: string): { path: string; full: string }[] {
    return entriesOf(this.path(directory)).flatMap((entry) => {
      const path = join(directory, entry.name)
      const own = { path, full: this.path(path) }
      return entry.isDirectory() ? [own, ...this.#walk(path)] : [own]
    })
  }
}

const AS_SVC = [`--reuid=${SVC}`, `--regid=${SVC}`, '--clear-groups']

/** `swap` exchanges two names at once (renameat2(2)), some thousand times a second. */
const PERL_WORDS = `
my ($D, $S, $L, $B, $V, $P) = @ENV{qw(D S L B V P)};
my $number = \`uname -m\` =~ /aarch64/ ? 276 : 316;
sub swap { my ($a, $b) = @_; syscall($number, -100, $a, -100, $b, 2);
  select(undef, undef, undef, 0.0003) }
sub ready { syswrite(STDOUT, "ready\\n") }
`

const recordText = JSON.stringify({
  delivery_id: '0190a000-0000-7000-8000-000000000001',
  cargo_id: '0190a000-0000-7000-8000-000000000002',
  version: 1,
  request_id: '0190a000-0000-7000-8000-000000000003',
  renewal: null,
})

function targetOf(directory: string, name: string): string {
  const path = JSON.stringify(join(directory, `${name}.pem`))
  return `nome = "${name}"\n[[file]]\npath = ${path}\ncontent = ["cert", "chain", "key", "ca"]\n`
}

async function storeIdentityOf(directory: string, material: PairMaterial): Promise<void> {
  const { leafPem: certificatePem, keyPem, caPem } = material
  await storeIdentity(directory, { certificatePem, keyPem, caPem, agentId: null, renewal: null })
}

async function storePairOf(outDir: string, name: string, material: PairMaterial): Promise<void> {
  const { leafPem, chainPems, keyPem } = material
  const certificatePem = `${leafPem}${chainPems.join('')}`
  const record = JSON.parse(recordText) as never
  await storePair(outDir, name as ArtefactName, { certificatePem, keyPem, record })
}

/** A line out of the middle of each block: that is nowhere else. */
function marksOf({ leafPem, keyPem, caPem }: PairMaterial): string[] {
  return [leafPem, keyPem, caPem].map((pem) => pem.trim().split('\n').at(-3) ?? '')
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // Swapped away in this moment.
    return []
  }
}

function contentOf(path: string): string {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return readlinkSync(path)
  return stats.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
}

function textOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isFile() !== true || stats.size > BYTES_MAX) return ''
  return readFileSync(path, 'latin1')
}
