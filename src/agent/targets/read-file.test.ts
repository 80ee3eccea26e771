import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { storeFile } from '../delivery/installed-file.ts'
import { actAs } from '../files/act-as.ts'
import { readFileAsOwner } from './read-file.ts'

const NAME = 'site.conf' as ArtefactName
const uid = process.getuid?.() ?? -1
const gid = process.getgid?.() ?? -1
const isRoot = uid === 0
/** Nobody that root would trust; without root, oneself. */
const OWNER = isRoot ? { uid: 65534, gid: 65534 } : { uid, gid }
const RECORD = {
  delivery_id: 'd',
  cargo_id: 'c',
  version: 3,
  sha256: 'ab'.repeat(32),
  request_id: 'r',
}
const CONTENT = Buffer.from([0, 1, 255, 254])

let outDir: string
let content: string

beforeEach(async () => {
  const base = await mkdtemp(join(tmpdir(), 'read-file-'))
  await chmod(base, 0o755)
  outDir = join(base, 'out')
  await mkdir(outDir)
  await chown(outDir, OWNER.uid, OWNER.gid)
  await actAs(OWNER, () =>
    storeFile(outDir, NAME, { content: CONTENT, mode: 0o600, record: RECORD }),
  )
  content = join(outDir, '.files/site.conf/000001/content')
})
afterEach(() => rm(join(outDir, '..'), { recursive: true }))

const read = () => readFileAsOwner(OWNER, { outDir }, NAME)

describe('a file as its owner', () => {
  test('[SLD-11] [TGT-14] is read byte for byte, of its newest version', async () => {
    const second = { content: Buffer.from('two'), mode: 0o600, record: { ...RECORD, version: 4 } }
    const found = { ok: true, serial: RECORD.sha256, deliveryId: 'd' }
    assert.deepEqual(await read(), { ...found, material: { content: CONTENT }, version: 3 })
    await actAs(OWNER, () => storeFile(outDir, NAME, second))
    assert.deepEqual(await read(), {
      ...found,
      material: { content: second.content },
      version: 4,
    })
  })

  test('[SLD-11] [TGT-14] that is not there is told', async () => {
    const found = await readFileAsOwner(OWNER, { outDir }, 'other' as ArtefactName)
    assert.deepEqual(found, { ok: false, reason: 'no file is installed for other' })
  })

  const planted: [what: string, plant: () => Promise<unknown> | void, reason: RegExp][] = [
    ['a link to a file of another', () => symlink('/etc/shadow', content), /ELOOP/],
    ['a FIFO', () => void execFileSync('mkfifo', [content]), /is not a regular file/],
    ['a directory', () => mkdir(content), /is not a regular file/],
    [
      'a file without an end',
      async () => {
        await writeFile(content, '')
        await truncate(content, 1024 ** 4)
      },
      isRoot ? /belongs to user 0|has more than 16777216 bytes/ : /has more than 16777216 bytes/,
    ],
  ]
  for (const [what, plant, reason] of planted) {
    test(`[SLD-11] [TGT-14] is refused when it is ${what}`, async () => {
      await unlink(content)
      await plant()
      if (what !== 'a link to a file of another') await chown(content, OWNER.uid, OWNER.gid)
      const found = await read()
      assert.match(found.ok ? '' : found.reason, reason)
    })
  }

  for (const text of ['{', '{}', JSON.stringify({ ...RECORD, sha256: '../../x' })]) {
    test(`[SLD-11] is refused with the record ${text.slice(0, 20)}`, async () => {
      await writeFile(join(outDir, '.files/site.conf/000001/delivery.json'), text)
      const found = await read()
      assert.match(found.ok ? '' : found.reason, /^delivery\.json (cannot be parsed|is not valid)$/)
    })
  }
})
