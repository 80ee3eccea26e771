/** Shorter ones are found by chance, and give nothing away. */
const FRAGMENT_CHARACTERS = 16
const STEP = 4
const PREFIX_CHARACTERS = 5

/** Where a text has a token, or enough of one: plain, percent-encoded, in base64 or in hex. */
export function findTraces(text: string, token: string): string[] {
  const secret = token.slice(PREFIX_CHARACTERS)
  const forms: [string, string[]][] = [
    ['plain', fragmentsOf(secret)],
    ['percent-encoded', fragmentsOf(percentEncoded(secret), 3)],
    ['in hex', fragmentsOf(Buffer.from(secret).toString('hex'))],
    // Its letters depend on how many bytes of a group come before.
    ...['', 'a', 'ab'].map((before): [string, string[]] => [
      'in base64',
      fragmentsOf(
        Buffer.from(`${before}${secret}`)
          .toString('base64')
          .slice(before === '' ? 0 : 4, -4),
      ),
    ]),
  ]
  return forms.flatMap(([form, fragments]) => {
    const found = fragments.find((fragment) => text.includes(fragment))
    if (found === undefined) return []
    const at = text.indexOf(found)
    return [`${form}: ${text.slice(Math.max(0, at - 120), at + 60)}`]
  })
}

export function percentEncoded(text: string): string {
  return text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)
}

/** Enough of them that a longer fragment of the text has one. */
function fragmentsOf(text: string, lettersOfCharacter = 1): string[] {
  const length = FRAGMENT_CHARACTERS * lettersOfCharacter
  const fragments: string[] = []
  for (let at = 0; at + length <= text.length; at += STEP * lettersOfCharacter) {
    fragments.push(text.slice(at, at + length))
  }
  return fragments
}
