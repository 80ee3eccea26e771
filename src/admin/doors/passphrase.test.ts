import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Secret } from '../../platform/secret.ts'
import type { AskHidden } from '../terminal/ask-hidden.ts'
import { createPassphraseSource } from './passphrase.ts'

/** A person who types these lines, and says what they were asked. */
function createPerson(answers: readonly string[]): { ask: AskHidden; questions: string[] } {
  const questions: string[] = []
  const ask = (question: string): Promise<string> => {
    questions.push(question)
    return Promise.resolve(answers[questions.length - 1] ?? assert.fail('asked too often'))
  }
  return { ask, questions }
}

const nothing = (): undefined => undefined

describe('the master passphrase', () => {
  test('is that of the environment, without asking anybody', async () => {
    const { ask, questions } = createPerson([])
    const source = createPassphraseSource({ readFromEnvironment: () => new Secret('set'), ask })
    assert.equal(source.needsPerson(), false)
    assert.equal((await source.read()).reveal(), 'set')
    assert.equal((await source.readNew()).reveal(), 'set')
    assert.deepEqual(questions, [])
  })

  test('is asked for once', async () => {
    const { ask, questions } = createPerson(['typed'])
    const source = createPassphraseSource({ readFromEnvironment: nothing, ask })
    assert.equal(source.needsPerson(), true)
    assert.equal((await source.read()).reveal(), 'typed')
    assert.equal(source.needsPerson(), false)
    assert.equal((await source.read()).reveal(), 'typed')
    assert.deepEqual(questions, ['master passphrase: '])
  })

  test('is asked for twice when it is new', async () => {
    const { ask, questions } = createPerson(['typed', 'typed'])
    const source = createPassphraseSource({ readFromEnvironment: nothing, ask })
    assert.equal((await source.readNew()).reveal(), 'typed')
    assert.deepEqual(questions, ['new master passphrase: ', 'the same again: '])
  })

  test('is refused when it is new and mistyped', async () => {
    const { ask } = createPerson(['typed', 'typde'])
    const source = createPassphraseSource({ readFromEnvironment: nothing, ask })
    await assert.rejects(source.readNew(), { code: 'passphrases_differ' })
  })

  test('[CLI-14] is required when there is nobody to ask', async () => {
    const source = createPassphraseSource({ readFromEnvironment: nothing, ask: undefined })
    assert.equal(source.needsPerson(), false)
    await assert.rejects(source.read(), { message: 'SVC_MASTER_PASSPHRASE required' })
    await assert.rejects(source.readNew(), { message: 'SVC_MASTER_PASSPHRASE required' })
  })
})
