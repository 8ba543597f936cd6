// A shared library that is no PJRT plug-in.
extern "C" int NothingOfInterest() {
  return 0;
}
