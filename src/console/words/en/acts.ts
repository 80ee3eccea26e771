// What is said around acts: before, during, after, and when somebody else was faster.

export const acts = {
  cancel: 'Cancel',
  busy: 'Working…',
  done: 'Done',
  nothing: 'The hub would record nothing: it is like that already.',
  hostsTold: (count: number) => (count === 1 ? '1 host is told' : `${count} hosts are told`),
  typeName: (name: string) => `Type ${name} to go on`,
  changedMeanwhile: 'Somebody changed it while it was on your screen.',
  changedBy: (actor: string, time: string) =>
    `${actor} changed it at ${time}, while it was on your screen.`,
  compare: 'Compare…',
  seen: 'What you saw',
  present: 'What is there now',
  wanted: 'What you want',
  clash: 'both of you changed it',
  goOn: 'Back to the form',
  takePresent: 'Start from what is there',
  overwrite: 'Set what you want',
  shownOnce: 'Only you see this, and only now: the hub keeps hashes alone.',
  haveCopied: 'I have copied it',
  close: 'Close',
  remove: 'Remove',
  create: 'Create',
  optional: 'optional',
  duration: 'Such as 8h or 90d',
  noDuration: 'This is no duration: write 15m, 8h or 90d',
}
