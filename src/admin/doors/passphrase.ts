import { type SvcError, UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import type { AskHidden } from '../terminal/ask-hidden.ts'

const VARIABLE = 'SVC_MASTER_PASSPHRASE'

/** Where the master passphrase comes from: the environment, else a person, who is asked once. */
export interface PassphraseSource {
  /** Reading it would wait for a person to type. */
  needsPerson(): boolean
  /** `why` begins what is said when it is nowhere: that it is wanted at all may be a surprise. */
  read(why?: string): Promise<Secret<string>>
  /** For a new vault: a person types it twice, since a slip would lock everybody out. A weak one is refused. */
  readNew(): Promise<Secret<string>>
  /** For a vault that has another one: a person types it twice. `refuse` throws for a weak one. */
  readReplacement(refuse: (passphrase: Secret<string>) => void): Promise<Secret<string>>
  /** Of what was read. */
  faults(): readonly SvcError[]
}

export interface PassphraseOptions {
  /** Undefined when the environment has none. */
  readonly readFromEnvironment: () => Secret<string> | undefined
  /** What makes a passphrase weak, wherever it came from. */
  readonly findFaults: (passphrase: Secret<string>) => readonly SvcError[]
  /** Undefined without a terminal. */
  readonly ask: AskHidden | undefined
}

export function createPassphraseSource({
  readFromEnvironment,
  findFaults,
  ask,
}: PassphraseOptions): PassphraseSource {
  let known: Secret<string> | undefined
  // Read at first use: beside a hub most commands need no passphrase, and so no file that holds it.
  const find = (): Secret<string> | undefined => (known ??= readFromEnvironment())
  const askFor = async (question: string, why = ''): Promise<Secret<string>> => {
    if (ask === undefined) throw passphraseMissing(why)
    return new Secret(await ask(question))
  }
  const askTwice = async (
    refuse: (passphrase: Secret<string>) => void,
  ): Promise<Secret<string>> => {
    const first = await askFor('new master passphrase: ')
    refuse(first)
    const second = await askFor('the same again: ')
    if (second.reveal() === first.reveal()) return first
    throw new UserError('passphrases_differ', 'the two passphrases differ')
  }
  const refuseWeak = (passphrase: Secret<string>): Secret<string> => {
    const [fault] = findFaults(passphrase)
    if (fault !== undefined) throw fault
    return passphrase
  }
  return {
    faults: () => (known === undefined ? [] : findFaults(known)),
    needsPerson: () => find() === undefined && ask !== undefined,
    read: async (why) => {
      known = find() ?? (await askFor('master passphrase: ', why))
      return known
    },
    readNew: async () => {
      const given = find()
      return given === undefined ? askTwice(refuseWeak) : refuseWeak(given)
    },
    readReplacement: (refuse) => {
      if (ask !== undefined) return askTwice(refuse)
      throw new UserError('new_passphrase_missing', 'no terminal to ask for the new passphrase', {
        hint: 'name a file that holds it: --new-passphrase-file FILE',
      })
    },
  }
}

function passphraseMissing(why: string): UserError {
  return new UserError('config_missing', `${VARIABLE} required`, {
    hint: `${why}set it, or ${VARIABLE}_FILE to the path of a file that holds it`,
  })
}
