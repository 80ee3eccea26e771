import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  lchown,
  link,
  mkdir,
  mkdtemp,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { makeOwnDirectory } from '../../../test/support/own-place.ts'
import { createPairMaterial } from '../../../test/support/pair-material.ts'
import { generateKey } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { storePair } from '../delivery/installed-pair.ts'
import { storeIdentity } from '../identity/identity.ts'
import { actAs } from '../files/act-as.ts'
import { readPairAsOwner } from './read-pair.ts'
import type { PairMaterial } from './render-content.ts'

const NAME = 'site' as ArtefactName
const uid = process.getuid?.() ?? -1
const gid = process.getgid?.() ?? -1
const isRoot = uid === 0
const onlyAsRoot = isRoot ? false : 'only root has something that the owner may not read'
/** Nobody that root would trust; without root, oneself. */
const OWNER = isRoot ? { uid: 65534, gid: 65534 } : { uid, gid }
const RECORD = {
  delivery_id: 'd',
  cargo_id: 'c',
  version: 3,
  request_id: 'r',
  renewal: null,
}

let pair: PairMaterial
/** What only root may read, and the pair that must never come out. */
let foreign: PairMaterial
let base: string
let dataDir: string
let version: string
let rootsOwn: string

before(async () => {
  pair = await createPairMaterial()
  foreign = await createPairMaterial()
})

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'read-pair-'))
  await chmod(base, 0o755)
  dataDir = join(base, 'data')
  rootsOwn = join(base, 'roots-own')
  await mkdir(dataDir)
  await chown(dataDir, OWNER.uid, OWNER.gid)
  await actAs(OWNER, () => storeAll(dataDir, pair))
  version = join(dataDir, 'out/.versions/site/000001')
  await mkdir(rootsOwn, { mode: 0o700 })
  await writePair(rootsOwn, foreign)
})
afterEach(() => rm(base, { recursive: true }))

const places = (directory = dataDir) => ({
  outDir: join(directory, 'out'),
  identityDir: join(directory, 'identity'),
})
const read = () => readPairAsOwner(OWNER, places(), NAME)

describe('a pair', () => {
  test('[TGT-14] is read whole, of its newest version, in our own encoding', async () => {
    await actAs(OWNER, () => storeSite(dataDir, foreign))
    const expected = { material: { ...foreign, caPem: pair.caPem }, serial: serialOf(foreign) }
    const { delivery_id: deliveryId } = RECORD
    assert.deepEqual(await read(), { ok: true, version: undefined, deliveryId, ...expected })
  })

  test('[TGT-14] is read beside an identity that was restored as plain files', async () => {
    await rm(join(dataDir, 'identity'), { recursive: true })
    await mkdir(join(dataDir, 'identity'))
    await writeFile(join(dataDir, 'identity/ca.pem'), pair.caPem)
    await giveToOwner(join(dataDir, 'identity'))
    assert.equal((await read()).ok, true)
  })

  test('[TGT-14] that is not there is told', async () => {
    const other = await readPairAsOwner(OWNER, places(), 'other' as ArtefactName)
    assert.deepEqual(other, { ok: false, reason: 'nothing is installed for other' })
  })

  test(
    "[TGT-14] of root's own data directory is read where nobody else may plant anything",
    {
      skip: onlyAsRoot,
    },
    async () => {
      const root = { uid: 0, gid: 0 }
      const home = await makeOwnDirectory('svc-agent-read-pair-')
      after(() => rm(home, { recursive: true }))
      await storeAll(home, pair)
      assert.equal((await readPairAsOwner(root, places(home), NAME)).ok, true)
      await chmod(join(home, 'out'), 0o777)
      assert.deepEqual(await readPairAsOwner(root, places(home), NAME), {
        ok: false,
        reason: `the directory ${join(home, 'out')} is writable by group or others`,
      })
    },
  )
})

describe('a pair that cannot be used', () => {
  const PRIVATE_WORDS = 'some-secret-words'
  const spoils: readonly [string, string, () => Promise<string> | string, RegExp][] = [
    ['a key of another certificate', 'key.pem', () => foreign.keyPem, /is not the key of its/],
    ['no key', 'key.pem', () => PRIVATE_WORDS, /: key\.pem cannot be parsed$/],
    ['a damaged key', 'key.pem', () => damaged(pair.keyPem), /: key\.pem cannot be parsed$/],
    ['a key with a password', 'key.pem', encryptedKey, /: key\.pem cannot be parsed$/],
    ['a short key', 'key.pem', () => shortPair().keyPem, /is not the key of its/],
    ['a short certified key', 'cert.pem', () => shortPair().leafPem, /has an unknown type/],
    ['no certificate', 'cert.pem', () => PRIVATE_WORDS, /a certificate is missing/],
    ['an empty certificate', 'cert.pem', () => '', /a certificate is missing/],
    [
      'a damaged certificate',
      'cert.pem',
      () => damaged(pair.leafPem),
      /cert\.pem cannot be parsed/,
    ],
    [
      'too many certificates',
      'cert.pem',
      () => pair.leafPem.repeat(17),
      /more than 16 certificates/,
    ],
    ['a record that is no JSON', 'delivery.json', () => PRIVATE_WORDS, /json cannot be parsed/],
    ['a record of another form', 'delivery.json', () => '{"a":1}', /delivery\.json is not valid/],
  ]
  for (const [what, file, content, reason] of spoils) {
    test(`[TGT-14] with ${what} is refused, without a word of what is in it`, async () => {
      await writeFile(join(version, file), await content())
      const result = await read()
      assert.ok(!result.ok)
      assert.match(result.reason, reason)
      assert.ok(!result.reason.includes(PRIVATE_WORDS))
    })
  }

  test('[TGT-14] with no root is refused', async () => {
    await writeFile(join(dataDir, 'identity/.versions/000001/ca.pem'), 'none')
    const result = await read()
    assert.ok(!result.ok)
    assert.match(result.reason, /a certificate is missing/)
  })
})

describe('what an owner plants', () => {
  const files = ['cert.pem', 'key.pem', 'delivery.json'] as const

  for (const file of files) {
    const planted: readonly [string, (path: string) => Promise<void>, RegExp][] = [
      ['a link to /etc/shadow', (path) => symlink('/etc/shadow', path), /ELOOP/],
      ['a link to our own environment', (path) => symlink('/proc/self/environ', path), /ELOOP/],
      ['a link that leads to itself', (path) => symlink(file, path), /ELOOP/],
      ['a link to an endless device', (path) => symlink('/dev/zero', path), /ELOOP/],
      ['a directory', (path) => mkdir(path), /is not a regular file/],
      ['a FIFO', (path) => run('mkfifo', '-m', '666', path), /is not a regular file/],
      ['a socket', plantSocket, /ENXIO/],
      ['a file of many gigabytes', plantHugeFile, /more than 1048576 bytes/],
    ]
    for (const [what, plant, reason] of planted) {
      test(`[TGT-14] ${what} in the place of ${file} is refused at once`, async () => {
        await unlink(join(version, file))
        await plant(join(version, file))
        await giveToOwner(version)
        await assertRefused(reason)
      })
    }

    const ofRoot: readonly [string, (path: string) => Promise<void>, RegExp][] = [
      [
        'a hard link to a file that only root reads',
        (path) => link(join(rootsOwn, file), path),
        /EACCES/,
      ],
      ['a hard link to a file that all may read', plantReadableLink, /belongs to user 0/],
      [
        'an endless device',
        (path) => run('mknod', '-m', '666', path, 'c', '1', '5'),
        /not a regular/,
      ],
    ]
    for (const [what, plant, reason] of ofRoot) {
      test(
        `[TGT-14] ${what} in the place of ${file} is refused`,
        { skip: onlyAsRoot },
        async () => {
          await unlink(join(version, file))
          await plant(join(version, file))
          await assertRefused(reason)
        },
      )
    }
    async function plantReadableLink(path: string): Promise<void> {
      await chmod(join(rootsOwn, file), 0o644)
      await link(join(rootsOwn, file), path)
    }
  }

  test('[TGT-14] `current` leads to a version beside it and nowhere else', async () => {
    const current = join(dataDir, 'out/.versions/site/current')
    for (const target of ['../../../../etc', rootsOwn, '000001/../../..', '.', 'current']) {
      await unlink(current)
      await symlink(target, current)
      await assertRefused(/current does not lead to a version$/)
    }
  })

  for (const directory of [
    'out',
    'out/.versions',
    'out/.versions/site',
    'out/.versions/site/000001',
  ]) {
    test(
      `[TGT-14] ${directory} led away to root's files is refused`,
      {
        skip: onlyAsRoot,
      },
      async () => {
        const path = join(dataDir, directory)
        await storeAll(rootsOwn, foreign)
        await rename(path, `${path}.old`)
        await symlink(join(rootsOwn, directory), path)
        await assertRefused(/EACCES/)
        await chmod(rootsOwn, 0o755)
        await run('chmod', '-R', 'a+rX', rootsOwn)
        await assertRefused(/belongs to user 0$/)
      },
    )
  }

  test(
    '[TGT-14] a directory that root holds open is not reached through /proc',
    {
      skip: onlyAsRoot,
    },
    async () => {
      const held = openSync(rootsOwn, 'r')
      try {
        await rename(version, `${version}.old`)
        await symlink(`/proc/${process.pid}/fd/${held}`, version)
        await assertRefused(/EACCES/)
        await unlink(version)
        await symlink(`/proc/self/fd/${held}`, version)
        await assertRefused(/EACCES/)
      } finally {
        closeSync(held)
      }
    },
  )

  test('[TGT-14] identity/ca.pem is read by the same rules', async () => {
    const ca = join(dataDir, 'identity/.versions/000001/ca.pem')
    await unlink(ca)
    await symlink('/etc/shadow', ca)
    await assertRefused(/ELOOP/)
  })

  test(
    '[TGT-14] directories swapped all the time give a whole pair of the owner or a reason',
    {
      skip: onlyAsRoot,
    },
    async () => {
      const second = await createPairMaterial()
      const mine = join(base, 'swaps')
      await mkdir(mine)
      await cp(version, join(mine, 'a'), { recursive: true })
      await cp(version, join(mine, 'b'), { recursive: true })
      await writePair(join(mine, 'b'), second)
      await symlink(rootsOwn, join(mine, 'c'))
      await giveToOwner(mine)
      await run('chmod', '-R', 'a+rX', rootsOwn)
      const swapper = spawn(process.execPath, ['-e', SWAP, version, mine], {
        uid: OWNER.uid,
        gid: OWNER.gid,
        stdio: 'inherit',
      })
      try {
        const seen = { pairs: 0, reasons: 0 }
        const endMs = performance.now() + 60_000
        while ((seen.pairs < 50 || seen.reasons < 50) && performance.now() < endMs) {
          const result = await read()
          assert.equal(process.geteuid?.(), 0)
          if (!result.ok) {
            seen.reasons += 1
            continue
          }
          seen.pairs += 1
          const { leafPem, keyPem } = result.material as PairMaterial
          const known = [pair, second].find((one) => one.leafPem === leafPem)
          assert.equal(keyPem, known?.keyPem)
        }
        assert.ok(seen.pairs >= 50 && seen.reasons >= 50, JSON.stringify(seen))
      } finally {
        swapper.kill('SIGKILL')
      }
    },
  )

  async function assertRefused(reason: RegExp): Promise<void> {
    const startedMs = performance.now()
    const result = await read()
    assert.ok(performance.now() - startedMs < 10_000)
    assert.ok(!result.ok, 'it was read')
    assert.match(result.reason, reason)
    assert.ok(!result.reason.includes('root:'), result.reason)
    assert.equal(process.geteuid?.(), uid)
  }
})

/** Puts its three directories in the place of the version, in turn, as fast as it can. */
const SWAP = `
const { renameSync } = require('node:fs')
const [version, mine] = process.argv.slice(1)
renameSync(version, version + '.old')
for (;;) for (const name of ['a', 'b', 'c']) {
  renameSync(mine + '/' + name, version)
  for (let at = 0; at < 20_000; at++);
  renameSync(version, mine + '/' + name)
}`

async function storeAll(directory: string, material: PairMaterial): Promise<void> {
  await mkdir(join(directory, 'out'), { mode: 0o755 })
  await mkdir(join(directory, 'identity'), { mode: 0o700 })
  await storeSite(directory, material)
  await storeIdentity(join(directory, 'identity'), {
    certificatePem: material.leafPem,
    keyPem: material.keyPem,
    caPem: material.caPem,
    agentId: null,
    renewal: null,
  })
}

async function storeSite(directory: string, { leafPem, chainPems, keyPem }: PairMaterial) {
  const certificatePem = `${leafPem}${chainPems.join('')}`
  await storePair(join(directory, 'out'), NAME, { certificatePem, keyPem, record: RECORD })
}

async function writePair(directory: string, { leafPem, chainPems, keyPem }: PairMaterial) {
  await writeFile(join(directory, 'cert.pem'), leafPem + chainPems.join(''), { mode: 0o600 })
  await writeFile(join(directory, 'key.pem'), keyPem, { mode: 0o600 })
  await writeFile(join(directory, 'delivery.json'), JSON.stringify(RECORD), { mode: 0o600 })
}

async function giveToOwner(path: string): Promise<void> {
  await lchown(path, OWNER.uid, OWNER.gid)
  if (isRoot) await run('chown', '-hR', `${OWNER.uid}:${OWNER.gid}`, path)
}

async function plantSocket(path: string): Promise<void> {
  const code = `require('node:net').createServer().listen(process.argv[1], () => process.exit())`
  await run(process.execPath, '-e', `process.umask(0);${code}`, path)
}

async function plantHugeFile(path: string): Promise<void> {
  await writeFile(path, pair.leafPem, { mode: 0o644 })
  await truncate(path, 64 * 1024 ** 3)
}

function run(program: string, ...args: string[]): Promise<void> {
  execFileSync(program, args)
  return Promise.resolve()
}

function serialOf({ leafPem }: PairMaterial): string {
  return new X509Certificate(leafPem).serialNumber.toLowerCase()
}

/** Still base64, no longer DER. */
function damaged(pem: string): string {
  return pem.replace(/\n[A-Za-z0-9+/]{8}/, '\nAAAAAAAA')
}

async function encryptedKey(): Promise<string> {
  const { keyObject } = await generateKey('ec-p256')
  const passphrase = 'x'
  return keyObject
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase })
    .toString()
}

/** Self-signed RSA of 1024 bits. */
function shortPair(): { leafPem: string; keyPem: string } {
  const args = ['req', '-x509', '-nodes', '-newkey', 'rsa:1024', '-keyout', '-', '-subj', '/CN=a']
  const text = execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' })
  const start = text.indexOf('-----BEGIN CERT')
  const key = /-----BEGIN PRIVATE KEY-----[^]+-----END PRIVATE KEY-----\n/.exec(text)?.[0] ?? ''
  return { leafPem: text.slice(start), keyPem: key }
}
