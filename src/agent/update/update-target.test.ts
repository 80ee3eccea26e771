import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findExecutableKind, resolveUpdateTarget } from './update-target.ts'

const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const MEGABYTE = 1024 * 1024

describe('[UPD-8] the executable to update', () => {
  let directory: string
  before(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'target-')))
  })
  after(() => rm(directory, { recursive: true }))

  test('is known by the mark of Node, wherever in the file it is', async () => {
    const path = join(directory, 'mark')
    for (const skipped of [
      0,
      1,
      MEGABYTE - 49,
      MEGABYTE - 48,
      MEGABYTE - 1,
      MEGABYTE,
      2 * MEGABYTE + 7,
    ]) {
      for (const [flag, kind] of [
        ['1', 'agent'],
        ['0', 'plain-node'],
      ] as const) {
        await writeFile(
          path,
          Buffer.concat([Buffer.alloc(skipped), Buffer.from(`${FUSE}:${flag}x`)]),
        )
        assert.equal(await findExecutableKind(path), kind, `after ${skipped} bytes`)
      }
    }
    await writeFile(path, `${FUSE}:`)
    assert.equal(await findExecutableKind(path), 'other')
    assert.equal(await findExecutableKind(process.execPath), 'plain-node')
    assert.equal(await findExecutableKind('/dev/null'), 'other')
  })

  test('is the file at the end of all links', async () => {
    const binary = await makeAgent(join(directory, 'links'))
    const link = join(directory, 'link')
    await symlink(binary, link)
    assert.equal(await resolveUpdateTarget(link), binary)
  })

  test('is refused in a directory that others can write, also further up', async () => {
    const outer = join(directory, 'outer')
    const binary = await makeAgent(join(outer, 'inner'))
    for (const path of [join(outer, 'inner'), outer]) {
      for (const mode of [0o775, 0o757]) {
        await chmod(path, mode)
        await assert.rejects(resolveUpdateTarget(binary), /is writable by group or others/)
      }
      await chmod(path, 0o755)
    }
    assert.equal(await resolveUpdateTarget(binary), binary)
  })

  test('is refused when there is none', async () => {
    await assert.rejects(
      resolveUpdateTarget(join(directory, 'none')),
      /there is no .*none to update/,
    )
  })
})

async function makeAgent(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true })
  const binary = join(directory, 'svc-agent')
  await writeFile(binary, `${FUSE}:1`)
  return binary
}
