import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { openNewest } from './open-console.ts'
import type { PackedConsole } from './packed-console.ts'

function packPage(text: string): PackedConsole {
  const content = Buffer.from(text)
  const page = {
    name: 'page.html',
    type: 'text/html; charset=utf-8',
    sha256: hash('sha256', content),
    gzip: gzipSync(content).toString('base64'),
    brotli: brotliCompressSync(content).toString('base64'),
  }
  return { files: [page] }
}

const PAGE = { path: '/console/', acceptEncoding: undefined, ifNoneMatch: undefined }

test('a hub of the source serves what was built last, and reads it once', () => {
  let [text, atMs, reads] = ['first', 1, 0]
  const files = openNewest({
    builtAtMs: () => atMs,
    read: () => {
      reads += 1
      return packPage(text)
    },
  })
  const show = (): string => String(files?.(PAGE).body)
  assert.deepEqual([show(), show(), reads], ['first', 'first', 1])
  const { etag } = files?.(PAGE).headers ?? {}
  ;[text, atMs] = ['second', 2]
  assert.deepEqual([show(), show(), reads], ['second', 'second', 2])
  assert.equal(files?.({ ...PAGE, ifNoneMatch: etag }).status, 200, 'the page before is stale')
})

test('what is gone for a moment leaves the page that was there', () => {
  let built: PackedConsole | undefined = packPage('first')
  const files = openNewest({
    builtAtMs: () => (built === undefined ? undefined : 1),
    read: () => built,
  })
  built = undefined
  assert.equal(String(files?.(PAGE).body), 'first')
})

test('there is no console where nobody built one', () => {
  assert.equal(openNewest({ builtAtMs: () => undefined, read: () => undefined }), undefined)
})
