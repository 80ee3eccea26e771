import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPhrases } from './phrases.ts'

test('a phrase is a fault in a document, in a string and in a comment', () => {
  const files = [
    { path: 'docs/a.md', text: 'A secret belongs into a vault.\nFiles of root’s.\nGood.' },
    {
      path: 'src/a.ts',
      text: "// Whoever reads this.\n/** Whoever. */\n * belongs into\nconst hint = 'ask whoever sealed it'",
    },
  ]
  assert.deepEqual(findPhrases(files), [
    'docs/a.md:1 says "belongs into"',
    'docs/a.md:2 says "of root’s"',
    'src/a.ts:1 says "Whoever"',
    'src/a.ts:2 says "Whoever"',
    'src/a.ts:3 says "belongs into"',
    'src/a.ts:4 says "whoever"',
  ])
})

test('each phrase is found', () => {
  const phrases = [
    'late by now',
    'goes on as ever',
    'sealed anew',
    'a bug of ours',
    'a vault of before',
  ]
  for (const phrase of [...phrases, 'is renewed no more', 'the hub has no say in it']) {
    assert.equal(findPhrases([{ path: 'docs/a.md', text: phrase }]).length, 1, phrase)
  }
})

test('plain sentences are no fault', () => {
  const text = 'Neither hub nor agent waits.\nThe file belongs to root.\nAgents before 0.4.0 wait.'
  assert.deepEqual(findPhrases([{ path: 'docs/a.md', text }]), [])
})
