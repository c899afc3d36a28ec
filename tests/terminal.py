# SPDX-License-Identifier: MIT
# A pseudo-terminal for terminal.bats.
#   terminal.py run COLUMNS [NAME=VALUE...] [WAIT:KEYS] -- COMMAND...
#       Runs the command and prints the bytes that the terminal gets. Types KEYS after the terminal has shown WAIT; both may have Python's
#       escapes. Ends with the status of the command, or 128 + n after signal n.
#   terminal.py fits -- COMMAND...
#       Runs the shell commands in windows of four widths, in two locales, with and without colour. Checks the width of the lines with
#       Python's widths of characters.
import fcntl, os, pty, re, signal, struct, sys, termios, unicodedata

BARS = re.compile('[▏▎▍▌▋▊▉█]')
COLOUR = re.compile('\033\\[[0-9;]*m')


def run(columns, settings, command, wait=None, keys=b''):
    env = {k: v for k, v in os.environ.items() if k not in ('COLUMNS', 'NO_COLOR', 'LANG', 'LC_CTYPE')}
    env.update({'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', **settings})
    pid, fd = pty.fork()
    if not pid:
        for number in signal.SIGPIPE, signal.SIGINT:  # background jobs ignore SIGINT
            signal.signal(number, signal.SIG_DFL)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        os.execvpe(command[0], command, env)
    out = b''
    while True:
        try:
            more = os.read(fd, 1 << 16)
        except OSError:  # every process has closed the terminal
            break
        if not more:
            break
        out += more
        if wait and wait in out:
            os.write(fd, keys)
            wait = None
    status = os.waitpid(pid, 0)[1]
    return out.replace(b'\r\n', b'\n'), os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def width(text):
    return sum(0 if unicodedata.combining(c) or unicodedata.category(c) in ('Mn', 'Me') else
               2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)


# Checks that the probabilities of a list of candidates are in one column.
def aligned(lines):
    places = set()
    for line in lines:
        if re.match(' *id( text)? .*(before|prob)', line):
            places = set()
        probability = re.compile(r'(?<=  )(\.\d\d\d|\de-\d\d|[01])(?= )').search(line, line.rfind('"') + 1)
        if re.match(r'[ >+] *\d+ ', line) and probability:
            places.add(width(line[:probability.start()]))
        if len(places) > 1:
            return False
    return True


# Locales with settings: NO_COLOR set, colours, and a dumb terminal.
LOOKS = ('C.UTF-8', {'NO_COLOR': '1'}), ('C.UTF-8', {'NO_COLOR': ''}), ('C', {'TERM': 'dumb'})


def fits(commands):
    for command in commands:
        for columns in (60, 80, 120, 200):
            plain = None
            for locale, look in LOOKS:
                where = '%s: %d columns, %s, %s' % (command, columns, locale, look)
                out, status = run(columns, {'LC_ALL': locale, **look}, ['sh', '-c', command])
                text = COLOUR.sub('', out.decode())
                lines = text.split('\n')
                assert text and status < 2, '%s: status %d: %s' % (where, status, text)
                assert ('\033' in out.decode()) <= (look == {'NO_COLOR': ''}), where + ': escapes'
                assert '\033' not in text, where + ': other escapes than colours'
                assert locale != 'C' or not BARS.search(text), where + ': not ASCII'
                assert plain in (None, text) or locale == 'C', where + ': not the same as without colour'
                plain = text
                for line in lines:
                    assert width(line) <= columns, '%s: %d columns: %s' % (where, width(line), line)
                assert aligned(lines), where + ': not aligned:\n' + text


def main():
    what, dash = sys.argv[1], sys.argv.index('--')
    words, command = sys.argv[2:dash], sys.argv[dash + 1:]
    settings = dict(w.split('=', 1) for w in words if re.match('[A-Z_]+=', w))
    if what == 'fits':
        fits(command)
        return 0
    wait = keys = None
    for word in words[1:]:
        if not re.match('[A-Z_]+=', word):
            wait, keys = (part.encode().decode('unicode_escape').encode() for part in word.split(':', 1))
    out, status = run(int(words[0]), settings, command, wait, keys)
    sys.stdout.buffer.write(out)
    return status


if __name__ == '__main__':
    sys.exit(main())
