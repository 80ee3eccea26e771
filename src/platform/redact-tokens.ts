/**
 * A token that opens the hub, of any kind (`svct_…`, `svcj_…`, `svca_…`; a sign-in code `svcl_…`; the halves of a session, `svcc_…` and `svcs_…`): plain, with any of its characters percent-encoded, once
 * or again, or in base64, where its prefix begins at the first, second or third byte of a group. And that of a platform (a JWT):
 * two or three parts in base64url, of which the first begins with `{"`; it is looked for only where such a part begins, so that no
 * text takes long. Short enough for each log line: one pass, 0.2 us for 350 characters.
 */
const TOKEN = new RegExp(
  [
    `${one('s')}${one('v')}${one('c')}(?:${['t', 'a', 'j', 'l', 'c', 's'].map(one).join('|')})(?:_|%(?:25)*5[fF])(?:[\\w-]|%(?:25)*[0-9a-fA-F]{2})+`,
    String.raw`(?:c3Zj(?:dF|YV|al|bF|Y1|c1)[89+/_-]|[HXn3]N2Y(?:3R|2F|2p|2x|2N|3N)f|zdmN[0hqsjz]X[\w+/-])(?:[\w+/-]|%2[bBfF])+(?:=|%3[dD])*`,
    String.raw`(?:(?<![\w-])|(?<=%[0-9a-fA-F]{2}))eyJ[\w-]{9,}(?:(?:\.|%(?:25)*2[eE])[\w-]+){1,2}`,
  ].join('|'),
  'g',
)

/** The text with `[redacted]` where it had a token: for what is logged, or printed as an error. docs/protocol.md LOG-5. */
export function redactTokens(text: string): string {
  return text.replace(TOKEN, '[redacted]')
}

/** A letter of the prefix, in either case, as the digits of its code are. */
function one(letter: string): string {
  const codes = [letter, letter.toUpperCase()].map((each) =>
    each
      .charCodeAt(0)
      .toString(16)
      .replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`),
  )
  return `(?:[${letter}${letter.toUpperCase()}]|%(?:25)*(?:${codes.join('|')}))`
}
