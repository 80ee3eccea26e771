import { UserError } from '../../platform/errors.ts'
import { type Language, parseLanguage } from '../../protocol/spoken-words.ts'

/** docs/protocol.md WRD-12. */
export function readLanguage(env: Readonly<Record<string, string | undefined>>): Language {
  const { SVC_LANG: text } = env
  const language = parseLanguage(text)
  if (language !== undefined) return language
  throw new UserError('lang_invalid', `SVC_LANG: ${text} is no language of svc`, {
    hint: 'it is en or pt',
  })
}
