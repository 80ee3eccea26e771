import { Option } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'

/** `--if-versao <n>`: two operators who change one thing at the same time shall notice. */
export function ifVersaoOption(): Option {
  return new Option(
    `${flagOf('if-versao')} <version>`,
    'change the load only while it has this version',
  ).argParser((text) => {
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
    throw new UserError('versao_invalid', `--if-version: ${text} is not a version`, {
      hint: 'svc load list shows the version of each load',
    })
  })
}
