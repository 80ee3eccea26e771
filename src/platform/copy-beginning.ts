// The beginning of a text that came from outside, to keep it: a slice of a string holds on to all of that.

/** Half of a pair of surrogates at its end becomes U+FFFD. */
export function copyBeginning(text: string, charactersMax: number): string {
  return Buffer.from(text.slice(0, charactersMax)).toString()
}
