# What gdb does when it is attached while two threads are held: it shows where each is about to access memory, and stays with the first.
import gdb


def is_ours(frame):
    """Whether a frame belongs to what holds the thread."""
    name = frame.name() or ""
    return name.startswith(("foretell_rt::", "__foretell_"))


def show(thread):
    thread.switch()
    frame = gdb.newest_frame()
    while frame.older() is not None and is_ours(frame):
        frame = frame.older()
    frame.select()
    print("\n" + thread.name + ":")
    gdb.execute("frame")


racing = [thread for thread in gdb.selected_inferior().threads() if (thread.name or "").startswith("race: ")]
for thread in sorted(racing, key=lambda thread: thread.name, reverse=True):
    show(thread)
print("\nBoth are about to make the accesses that race. When you leave (detach, quit), the program goes on.")
