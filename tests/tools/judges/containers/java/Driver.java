public class Driver {
  public static void main(String[] words) {
    RampsimContainer rampsim = new RampsimContainer();
    rampsim.start();
    System.out.println(rampsim.createWorld("from-java").contains("\"secret_key\""));
    System.out.println(rampsim.control("POST", "/clock/advance", "from-java", "{\"by\": \"31m\"}").contains("T08:31:00"));
    rampsim.deleteWorld("from-java");
    try {
      rampsim.control("GET", "/clock", "from-java", null);
    } catch (IllegalStateException refused) {
      System.out.println(refused.getMessage().contains("404"));
    }
  }
}
