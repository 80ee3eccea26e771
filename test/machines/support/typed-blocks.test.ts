import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isAsShown, readTypedBlocks } from './typed-blocks.ts'

const PAGE = `# A page

## 1. First

\`\`\`sh hub
one
two
\`\`\`

\`\`\`text
out …
\`\`\`

## 2. Second

\`\`\`sh
not typed
\`\`\`

\`\`\`sh host
three
\`\`\`

Prose.

\`\`\`text
an example of something else
\`\`\`
`

test('a page’s blocks are typed where they say, and what stands right below is what they show', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'page-'))
  try {
    const path = join(directory, 'page.md')
    await writeFile(path, PAGE)
    assert.deepEqual(await readTypedBlocks(path), [
      { heading: '1. First', machine: 'hub', text: 'one\ntwo\n', shown: 'out …\n' },
      { heading: '2. Second', machine: 'host', text: 'three\n', shown: undefined },
    ])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('what is printed is as shown, but for what the page leaves out', () => {
  const shown = 'state  ok\nsince …\n…\nend (0)\n'
  assert.ok(isAsShown('state ok\nsince 12:00\nend (0)\n', shown))
  assert.ok(isAsShown('state     ok\nsince 12:00\nmore\nand more\nend (0)\n', shown))
  assert.ok(!isAsShown('state bad\nsince 12:00\nend (0)\n', shown))
  assert.ok(!isAsShown('state ok\nsince 12:00\nend (0)\nmore\n', shown))
  assert.ok(!isAsShown('state ok\nend (0)\n', shown))
  assert.ok(!isAsShown('', 'served\n'))
})
